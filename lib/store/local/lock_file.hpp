// SPDX-License-Identifier: MIT
#pragma once

#include <signal.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace jobthrottle::local {

// Says which state of the data file was last known to be whole: written after every change, and looked at
// before every use. Whatever else touches the file, or a reboot, makes it differ.
struct TrustToken {
    std::uint64_t boot = 0;
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t changed_ns = 0;
    friend bool operator==(const TrustToken& a, const TrustToken& b) {
        return a.boot == b.boot && a.device == b.device && a.inode == b.inode && a.size == b.size &&
               a.changed_ns == b.changed_ns;
    }
};
TrustToken token_of(const struct stat& file, std::uint64_t boot);

// A write beyond the file-size limit also sends a signal that would end the process; it is held back with the
// lock, and taken off here. For after a write that failed. REQUIRES: the lock is held.
void drop_limit_signal();

// The error for a call that the system refused, in words for a person.
Error system_error(const std::string& what, int code);

// The file beside the data file that is locked, by an open-file-description lock, while the data is read or
// written. It is also the pattern for the data file's owner and rights. A lock ends with the process that
// holds it, however it ends.
class LockFile {
public:
    // Opens it, or makes it with the rights of its folder. Error (refused): the system does not allow it, or
    // it would be root's file in the folder of another user.
    static Result<LockFile> open(const std::string& path);

    // While it lives the lock is held, and the signals that would stop or end this process are held back.
    class Held {
    public:
        Held(Held&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)), m_mask(other.m_mask) {}
        Held& operator=(Held&&) = delete;
        ~Held();

    private:
        friend class LockFile;
        Held(int fd, const sigset_t& mask) : m_fd(fd), m_mask(mask) {}
        int m_fd;
        sigset_t m_mask;
    };

    // Waits for at most `at_most`, and not longer than until `interrupted` says so. Errors: unavailable when
    // another process kept it all the while, interrupted, refused by the system.
    Result<Held> acquire(Duration at_most, const std::function<bool()>& interrupted) const;

    // Opened by this very process: after a fork parent and child would hold one lock together.
    bool is_ours() const;
    // Nobody has removed it: others lock the same file.
    bool is_in_place() const;
    struct stat status() const;

    // Nothing, too, where the last user died while the data was in use. REQUIRES: held
    std::optional<TrustToken> token() const;
    // Best effort: without it the next user checks the file. REQUIRES: held
    void put_token(const TrustToken&) const;
    // While it lives the data is said to be in use: if this process dies of what it reads there, the next one
    // checks the file, whose token would still be right. Best effort. REQUIRES: held
    class InUse {
    public:
        explicit InUse(const LockFile& file) : m_file(file) { m_file.put_mark(true); }
        InUse(const InUse&) = delete;
        InUse& operator=(const InUse&) = delete;
        ~InUse() { m_file.put_mark(false); }

    private:
        const LockFile& m_file;
    };

private:
    void put_mark(bool in_use) const;

    LockFile(Fd fd, std::string path) : m_fd(std::move(fd)), m_path(std::move(path)) {}
    Fd m_fd;
    std::string m_path;
    pid_t m_pid = -1;
};

}  // namespace jobthrottle::local
