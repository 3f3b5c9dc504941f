// SPDX-License-Identifier: MIT
#include "store/local/lock_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <utility>

#include "store/local/bytes.hpp"
#include "store/local/place.hpp"

namespace jobthrottle::local {

namespace {

constexpr Duration k_first_pause{50};
constexpr Duration k_longest_pause = std::chrono::milliseconds{5};
constexpr std::size_t k_token_bytes = 40;
constexpr std::size_t k_mark_at = k_token_bytes + k_checksum_bytes;  // one byte; missing: not in use
constexpr std::string_view k_token_key = "token 1";

sigset_t held_back() {
    sigset_t set;
    sigemptyset(&set);
    // XFSZ: a write beyond the file-size limit is an error here, not the end of the process.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGXFSZ})
        sigaddset(&set, signal);
    return set;
}

int try_lock(int fd) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return fcntl(fd, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
}

void sleep_for(Duration pause) {
    const timespec time{static_cast<time_t>(pause.count() / 1'000'000),
                        static_cast<long>(pause.count() % 1'000'000 * 1000)};
    nanosleep(&time, nullptr);
}

// Made under another name and then linked, so that nobody meets it before it has its rights.
Result<void> make_lock_file(const std::string& path) {
    const auto folder = new_file_plan(path.substr(0, path.rfind('/')));
    if (!folder) return folder.error();
    const std::string draft = path + "." + std::to_string(getpid());
    unlink(draft.c_str());
    const Fd fd(::open(draft.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd) return system_error("cannot make " + path, errno);
    give_rights(fd.get(), *folder);
    const int code = link(draft.c_str(), path.c_str()) == 0 ? 0 : errno;
    unlink(draft.c_str());
    if (code != 0 && code != EEXIST) return system_error("cannot make " + path, code);
    return {};
}

}  // namespace

TrustToken token_of(const struct stat& file, std::uint64_t boot) {
    return {boot, static_cast<std::uint64_t>(file.st_dev), static_cast<std::uint64_t>(file.st_ino),
            static_cast<std::uint64_t>(file.st_size),
            std::int64_t{file.st_mtim.tv_sec} * 1'000'000'000 + file.st_mtim.tv_nsec};
}

void drop_limit_signal() {
    sigset_t beyond_limit;
    sigemptyset(&beyond_limit);
    sigaddset(&beyond_limit, SIGXFSZ);
    constexpr timespec k_now{0, 0};
    sigtimedwait(&beyond_limit, nullptr, &k_now);
}

Error system_error(const std::string& what, int code) {
    switch (code) {
        case ENOSPC:
            return refused_error(what + ": the disk is full");
        case EDQUOT:
            return refused_error(what + ": the disk quota is used up");
        case EFBIG:
            return refused_error(what + ": the file-size limit (ulimit -f) is reached");
        case EIO:
            return refused_error(what +
                                 ": the disk is full, the file-size limit (ulimit -f) is reached, or the "
                                 "disk fails");
        case EMFILE:
            return refused_error(what + ": too many open files (ulimit -n)");
        case ENOMEM:
            return refused_error(what + ": not enough memory or address space (ulimit -v)");
        default:
            return refused_error(what + ": " + std::strerror(code));
    }
}

Result<LockFile> LockFile::open(const std::string& path) {
    for (int tries = 0;; ++tries) {
        Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
        const int code = errno;
        if (fd) {
            LockFile file(std::move(fd), path);
            if (!S_ISREG(file.status().st_mode))
                return refused_error(path + " is not a regular file: remove it, or name another folder");
            file.m_pid = getpid();
            return file;
        }
        if (code == ELOOP)
            return refused_error(path + " is a symbolic link: remove it, or name another folder");
        if (code != ENOENT || tries == 3) return system_error("cannot open " + path + " for writing", code);
        if (const auto made = make_lock_file(path); !made) return made.error();
    }
}

Result<LockFile::Held> LockFile::acquire(Duration at_most, const std::function<bool()>& interrupted) const {
    using Clock = std::chrono::steady_clock;  // a suspended machine is nobody's delay
    const auto deadline = Clock::now() + at_most;
    const sigset_t blocked = held_back();
    for (Duration pause = k_first_pause;; pause = std::min(pause * 2, k_longest_pause)) {
        sigset_t before;
        pthread_sigmask(SIG_BLOCK, &blocked, &before);
        const int code = try_lock(m_fd.get());
        if (code == 0) return Held(m_fd.get(), before);
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        if (code != EAGAIN && code != EACCES) return system_error("cannot lock " + m_path, code);
        if (interrupted && interrupted())
            return Error{ErrorKind::interrupted, "interrupted while waiting for the lock of the local store"};
        const auto left = std::chrono::duration_cast<Duration>(deadline - Clock::now());
        if (left <= Duration::zero()) {
            return unavailable_error("another process has kept " + m_path + " locked for longer than " +
                                     std::to_string(at_most.count() / 1000) + " ms");
        }
        sleep_for(std::min(pause, left));
    }
}

LockFile::Held::~Held() {
    if (m_fd < 0) return;
    struct flock lock {};
    lock.l_type = F_UNLCK;
    lock.l_whence = SEEK_SET;
    fcntl(m_fd, F_OFD_SETLK, &lock);
    pthread_sigmask(SIG_SETMASK, &m_mask, nullptr);
}

struct stat LockFile::status() const {
    struct stat status {};
    fstat(m_fd.get(), &status);
    return status;
}

bool LockFile::is_ours() const {
    return m_pid == getpid();
}

bool LockFile::is_in_place() const {
    return status().st_nlink > 0;
}

std::optional<TrustToken> LockFile::token() const {
    std::array<char, k_mark_at + 1> raw{};
    if (pread(m_fd.get(), raw.data(), raw.size(), 0) < static_cast<ssize_t>(k_mark_at)) return std::nullopt;
    if (raw[k_mark_at] != 0) return std::nullopt;
    const std::string_view bytes(raw.data(), raw.size());
    const auto sum = static_cast<std::uint64_t>(field_at(bytes, k_token_bytes));
    if (sum != checksum(k_token_key, bytes.substr(0, k_token_bytes))) return std::nullopt;
    const auto word = [&](std::size_t i) { return static_cast<std::uint64_t>(field_at(bytes, 8 * i)); };
    return TrustToken{word(0), word(1), word(2), word(3), field_at(bytes, 32)};
}

void LockFile::put_token(const TrustToken& token) const {
    std::string bytes;
    for (const auto word : {token.boot, token.device, token.inode, token.size})
        put_field(bytes, static_cast<std::int64_t>(word));
    put_field(bytes, token.changed_ns);
    put_field(bytes, static_cast<std::int64_t>(checksum(k_token_key, bytes)));
    if (pwrite(m_fd.get(), bytes.data(), bytes.size(), 0) < 0) drop_limit_signal();
}

void LockFile::put_mark(bool in_use) const {
    const char mark = in_use ? 1 : 0;
    if (pwrite(m_fd.get(), &mark, 1, k_mark_at) < 0) drop_limit_signal();
}

}  // namespace jobthrottle::local
