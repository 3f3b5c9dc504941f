// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "base/fd.hpp"
#include "core/ticket.hpp"
#include "store/local/place.hpp"

namespace jobthrottle::local {

// The files by which the kernel wakes a waiter: a FIFO for each place in line that has a wake-up,
// STEM.PLACE.wake beside the store's other files, which its holder has open. One that nobody has open is a
// dead waiter's: they are made, and looked at, under the store's lock only.
class WakeFiles {
public:
    explicit WakeFiles(std::string stem) : m_stem(std::move(stem)) {}  // folder and name

    std::string path_of(TicketId) const;

    // Wakes the holder; false: nobody has the file open, or there is none. Never blocks, and a reader whose
    // file is full of wake-ups counts as woken. REQUIRES: the lock is held
    bool wake(TicketId) const;

    // Removes those that nobody has open. REQUIRES: the lock is held
    void sweep() const;

private:
    std::string m_stem;
};

// What wakes the waiters of a key, within a transaction.
class Waker {
public:
    virtual ~Waker() = default;
    virtual bool wake(TicketId) = 0;  // false: its holder is surely dead
};

// A FIFO of one's own, held open; it goes with this. It is readable once it was written to, and not before.
class WakeFile {
public:
    // Nothing: errno says why. Opens the one that is there, as where two processes share a place.
    // REQUIRES: the lock is held
    static std::optional<WakeFile> make(const std::string& path, const FilePlan&);

    WakeFile() = default;
    WakeFile(WakeFile&& other) noexcept;
    WakeFile& operator=(WakeFile&& other) noexcept;
    WakeFile(const WakeFile&) = delete;
    WakeFile& operator=(const WakeFile&) = delete;
    ~WakeFile() { remove(); }

    int fd() const { return m_fd.get(); }
    // Its name still leads to it: whoever wakes finds it.
    bool is_in_place() const;
    void drain() const;
    void ring() const;  // as though somebody had woken its holder

private:
    WakeFile(Fd fd, std::string path);
    void remove();

    Fd m_fd;
    std::string m_path;
    pid_t m_pid = -1;  // of who made it: a child that inherits it must not remove it
};

}  // namespace jobthrottle::local
