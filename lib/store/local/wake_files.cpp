// SPDX-License-Identifier: MIT
#include "store/local/wake_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace jobthrottle::local {

namespace {

constexpr std::string_view k_ending = ".wake";
constexpr std::size_t k_digits = 16;
constexpr char k_ring = 'w';

bool is_fifo(int fd) {
    struct stat status {};
    return fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
}

// Its writing end; errno says why there is none. ENXIO: nobody reads.
Fd open_to_write(const std::string& path) {
    Fd fd(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
    if (fd && !is_fifo(fd.get())) {
        fd.reset();
        errno = ENOENT;
    }
    return fd;
}

bool is_dead(const std::string& path) {
    return !open_to_write(path) && errno == ENXIO;
}

}  // namespace

std::string WakeFiles::path_of(TicketId id) const {
    static constexpr char k_hex[] = "0123456789abcdef";
    std::string path = m_stem + ".";
    for (int shift = 60; shift >= 0; shift -= 4)
        path += k_hex[id >> shift & 15];
    return path.append(k_ending);
}

bool WakeFiles::wake(TicketId id) const {
    const std::string path = path_of(id);
    const Fd fd = open_to_write(path);
    const int code = fd ? 0 : errno;
    if (code == ENXIO) unlink(path.c_str());
    if (code == ENXIO || code == ENOENT) return false;
    // A file that is full, or that cannot be opened, says nothing against its holder.
    if (fd && write(fd.get(), &k_ring, 1) < 0) return true;
    return true;
}

void WakeFiles::sweep() const {
    const auto slash = m_stem.rfind('/');
    const std::string folder = m_stem.substr(0, slash), start = m_stem.substr(slash + 1) + ".";
    const std::unique_ptr<DIR, int (*)(DIR*)> files(opendir(folder.c_str()), closedir);
    if (!files) return;
    std::vector<std::string> found;
    while (const dirent* entry = readdir(files.get())) {
        const std::string_view name = entry->d_name;
        if (name.size() == start.size() + k_digits + k_ending.size() &&
            name.substr(0, start.size()) == start && name.substr(name.size() - k_ending.size()) == k_ending)
            found.push_back(folder + "/" + entry->d_name);
    }
    for (const auto& path : found) {
        if (is_dead(path)) unlink(path.c_str());
    }
}

std::optional<WakeFile> WakeFile::make(const std::string& path, const FilePlan& plan) {
    for (int tries = 0; tries < 2; ++tries) {
        const bool is_new = mkfifo(path.c_str(), 0600) == 0;
        if (!is_new && errno != EEXIST) return std::nullopt;
        // Open for both, since a FIFO that a writer has left is readable for ever to who only reads.
        Fd fd(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
        if (fd && is_fifo(fd.get())) {
            if (is_new) give_rights(fd.get(), plan);
            return WakeFile(std::move(fd), path);
        }
        const int code = errno;
        unlink(path.c_str());
        errno = code;
        if (is_new) return std::nullopt;
    }
    errno = EEXIST;
    return std::nullopt;
}

WakeFile::WakeFile(Fd fd, std::string path) : m_fd(std::move(fd)), m_path(std::move(path)), m_pid(getpid()) {}

WakeFile::WakeFile(WakeFile&& other) noexcept
    : m_fd(std::move(other.m_fd)),
      m_path(std::exchange(other.m_path, {})),
      m_pid(std::exchange(other.m_pid, -1)) {}

WakeFile& WakeFile::operator=(WakeFile&& other) noexcept {
    if (this == &other) return *this;
    remove();
    m_fd = std::move(other.m_fd);
    m_path = std::exchange(other.m_path, {});
    m_pid = std::exchange(other.m_pid, -1);
    return *this;
}

bool WakeFile::is_in_place() const {
    struct stat named {
    }, open{};
    return m_fd && lstat(m_path.c_str(), &named) == 0 && fstat(m_fd.get(), &open) == 0 &&
           named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

void WakeFile::drain() const {
    std::array<char, 512> bytes;
    while (read(m_fd.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size())) {
    }
}

void WakeFile::ring() const {
    if (write(m_fd.get(), &k_ring, 1) < 0) return;  // full: it is readable
}

void WakeFile::remove() {
    if (m_pid == getpid() && is_in_place()) unlink(m_path.c_str());
    m_fd.reset();
}

}  // namespace jobthrottle::local
