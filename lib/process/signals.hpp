// SPDX-License-Identifier: MIT
#pragma once

#include <csignal>
#include <optional>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace jobthrottle {

struct ReceivedSignal {
    int number = 0;
    bool from_kernel = false;  // nobody called kill(): a key or the size of a terminal, an alarm
};

// The signals of this process, read one by one instead of handled. At most one is open at a time, and it is
// opened before any thread starts (the mask is inherited).
//
// While it is open, INT, TERM, HUP, QUIT, USR1 and USR2 are held back and come out of next(); while a command
// runs (CommandSignals) so do CHLD, TSTP, CONT, WINCH and the rest of what one may want to send to a command.
// A signal that was ignored at the start (nohup) stays ignored and is never reported. SIGPIPE is ignored.
// The destructor puts mask and dispositions back; what is still unread then is dropped.
class SignalInbox {
public:
    static Result<SignalInbox> open();

    SignalInbox(SignalInbox&&) noexcept = default;
    SignalInbox& operator=(SignalInbox&&) = delete;
    ~SignalInbox();

    int fd() const { return m_fd.get(); }  // readable when a signal is pending; borrowed
    // Neither blocks; nothing when none is pending.
    std::optional<ReceivedSignal> receive();
    std::optional<int> next();

    // The mask and the dispositions this process was started with. Async-signal-safe: for a child between
    // fork and exec. Without an open inbox it does nothing.
    static void restore_for_child();
    // Undoes restore_for_child() in a process that could not exec after all.
    static void take_again();
    static bool ignored_at_start(int signal);

private:
    explicit SignalInbox(Fd fd) : m_fd(std::move(fd)) {}
    Fd m_fd;
};

// Holds back, for as long as it lives, also the signals that matter only while a command runs.
class CommandSignals {
public:
    CommandSignals();
    ~CommandSignals();
    CommandSignals(const CommandSignals&) = delete;
    CommandSignals& operator=(const CommandSignals&) = delete;

private:
    sigset_t m_before{};
};

// INT, TERM, HUP, QUIT: those that end a run.
bool is_stop_signal(int signal);

// Ends this process by a signal, as one that does not handle it: a shell stops its loop only for a program
// that died of INT. Leaves no core. REQUIRES: no SignalInbox is open. Returns where the kernel does not let
// it die (process 1).
void die_of(int signal);

}  // namespace jobthrottle
