// SPDX-License-Identifier: MIT
#include "process/signals.hpp"

#include <sys/resource.h>
#include <sys/signalfd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "process/standard_descriptors.hpp"

namespace jobthrottle {

namespace {

// What this process was started with. One per process, as mask and dispositions are; a child between fork and
// exec reads it, so it is plain data.
struct StartState {
    bool open = false;
    sigset_t mask{};
    struct sigaction on_child {};
    struct sigaction on_pipe {};
};
StartState g_start;

constexpr std::array k_always = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
// Together with the real-time signals: all that people and supervisors send to a command. Those that mean a
// fault of the process itself are not ours to pass on; ABRT is, for watchdogs send it.
constexpr std::array k_with_command = {SIGCHLD, SIGTSTP, SIGCONT, SIGWINCH, SIGABRT, SIGALRM, SIGIO, SIGPWR};

// An ignored signal that is blocked would be queued, hence reported.
void add(sigset_t& set, int signal) {
    if (!SignalInbox::ignored_at_start(signal) || signal == SIGCHLD) sigaddset(&set, signal);
}

sigset_t always_set() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : k_always)
        add(set, signal);
    return set;
}

sigset_t command_set() {
    sigset_t set = always_set();
    for (const int signal : k_with_command)
        add(set, signal);
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal)
        add(set, signal);
    return set;
}

void set_disposition(int signal, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
}

void take_signals() {
    // A parent that ignores SIGCHLD would have the kernel reap the command and its exit code with it.
    set_disposition(SIGCHLD, SIG_DFL);
    set_disposition(SIGPIPE, SIG_IGN);
    const sigset_t set = always_set();
    sigprocmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace

Result<SignalInbox> SignalInbox::open() {
    if (g_start.open) return internal_error("the signals are read already");
    reserve_standard_descriptors();
    sigprocmask(SIG_SETMASK, nullptr, &g_start.mask);
    sigaction(SIGCHLD, nullptr, &g_start.on_child);
    sigaction(SIGPIPE, nullptr, &g_start.on_pipe);
    const sigset_t set = command_set();
    Fd fd{signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)};
    if (!fd) return internal_error(std::string("cannot read signals: ") + std::strerror(errno));
    g_start.open = true;
    take_signals();
    return SignalInbox{std::move(fd)};
}

SignalInbox::~SignalInbox() {
    if (!m_fd) return;
    while (next()) {
    }
    restore_for_child();
    g_start.open = false;
}

std::optional<ReceivedSignal> SignalInbox::receive() {
    signalfd_siginfo info{};
    while (true) {
        const ssize_t got = read(m_fd.get(), &info, sizeof info);
        if (got == static_cast<ssize_t>(sizeof info))
            return ReceivedSignal{static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL};
        if (got >= 0 || errno != EINTR) return std::nullopt;
    }
}

std::optional<int> SignalInbox::next() {
    const auto received = receive();
    return received ? std::optional<int>{received->number} : std::nullopt;
}

void SignalInbox::restore_for_child() {
    if (!g_start.open) return;
    sigaction(SIGCHLD, &g_start.on_child, nullptr);
    sigaction(SIGPIPE, &g_start.on_pipe, nullptr);
    sigprocmask(SIG_SETMASK, &g_start.mask, nullptr);
}

void SignalInbox::take_again() {
    if (g_start.open) take_signals();
}

bool SignalInbox::ignored_at_start(int signal) {
    // Only these two are changed by us; of all others the disposition is still that of the start.
    if (g_start.open && signal == SIGCHLD) return g_start.on_child.sa_handler == SIG_IGN;
    if (g_start.open && signal == SIGPIPE) return g_start.on_pipe.sa_handler == SIG_IGN;
    struct sigaction action {};
    return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

CommandSignals::CommandSignals() {
    const sigset_t set = command_set();
    sigprocmask(SIG_BLOCK, &set, &m_before);
}

CommandSignals::~CommandSignals() {
    // What came too late for the command must not hit us instead. A stop by the terminal still has to.
    sigset_t late = command_set();
    for (int signal = 1; signal <= SIGRTMAX; ++signal) {
        if (signal == SIGTSTP || sigismember(&m_before, signal) == 1) sigdelset(&late, signal);
    }
    const timespec at_once{};
    while (sigtimedwait(&late, nullptr, &at_once) > 0) {
    }
    sigprocmask(SIG_SETMASK, &m_before, nullptr);
}

bool is_stop_signal(int signal) {
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

void die_of(int signal) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, nullptr);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, signal);
    raise(signal);
    sigprocmask(SIG_UNBLOCK, &only, nullptr);
}

}  // namespace jobthrottle
