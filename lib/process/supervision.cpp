// SPDX-License-Identifier: MIT
#include "process/supervision.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <utility>

namespace jobthrottle {

namespace {

constexpr pid_t k_anyone = -1;
constexpr int k_patience_ms = 1000;

bool is_from_terminal(const ReceivedSignal& received) {
    const int signal = received.number;
    return received.from_kernel &&
           (signal == SIGINT || signal == SIGQUIT || signal == SIGTSTP || signal == SIGWINCH);
}

// The kernel lets a stop and a continue that is pending cancel each other. One that we took out before the
// other came must not be passed on after it, nor does the witness know it any more.
bool is_superseded(int signal) {
    if (signal != SIGTSTP && signal != SIGCONT) return false;
    settle_group_signals();
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, signal == SIGTSTP ? SIGCONT : SIGTSTP) == 1;
}

void drop_pending(const sigset_t& set) {
    const timespec at_once{};
    while (sigtimedwait(&set, nullptr, &at_once) > 0) {
    }
}

}  // namespace

Supervision::Supervision(SignalInbox& inbox, pid_t command, std::optional<GroupWitness> witness,
                         sigset_t came_before)
    : m_inbox(inbox), m_command(command), m_witness(std::move(witness)), m_came_before(came_before) {}

void Supervision::accompany(Companion& companion, BootAlarm alarm) {
    m_companion = &companion;
    m_alarm.emplace(std::move(alarm));
}

ChildReport Supervision::until_end(OutputPipes& pipes) {
    while (!has_ended())
        wait_once(pipes);
    pipes.finish();
    while (pipes.is_open() && !m_abandon_output)
        wait_once(pipes);
    m_report.output_error = pipes.error();
    return m_report;
}

void Supervision::wait_once(OutputPipes& pipes) {
    std::array<pollfd, 2 + OutputPipes::k_polls> polls{};
    polls[0] = {m_inbox.fd(), POLLIN, 0};
    polls[1] = {alarm_fd(), POLLIN, 0};
    pipes.prepare(&polls[2]);
    // Asked to go, we do not wait for a reader that reads nothing.
    const bool hurry = has_ended() && m_report.stop_signal;
    const int found = poll(polls.data(), polls.size(), hurry ? k_patience_ms : -1);
    if (found == 0) m_abandon_output = true;
    if (found <= 0) return;
    // Output first: what the command wrote before it ended is then mostly passed on when its end is seen.
    pipes.act(&polls[2]);
    if (polls[0].revents != 0) read_signals();
    ask_companion();
}

// -1, which is never ready, when nobody is to be asked.
int Supervision::alarm_fd() {
    if (!m_alarm || has_ended()) return -1;
    const BootTime due = m_companion->due();
    if (m_alarm_at != due && m_alarm->set(due)) m_alarm_at = due;
    return m_alarm->fd();
}

void Supervision::ask_companion() {
    if (m_companion == nullptr || has_ended() || BootClock::now() < m_companion->due()) return;
    const auto signal = m_companion->act();
    if (!signal) return;
    m_group_is_to_end = getpgid(m_command) == m_command;
    kill(m_group_is_to_end ? -m_command : m_command, *signal);
}

// What the command leaves of its group must not outlive it. False: it has not ended. It is not reaped yet, so
// that the number of the group cannot be another's.
bool Supervision::end_the_group() {
    siginfo_t info{};
    const bool over = waitid(P_PID, static_cast<id_t>(m_command), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
                      info.si_pid != 0;
    if (over) kill(-m_command, SIGKILL);
    return over;
}

void Supervision::read_signals() {
    drain_inbox();
    while (std::exchange(m_child_changed, false))
        reap();
}

void Supervision::drain_inbox() {
    while (const auto received = m_inbox.receive()) {
        if (received->number == SIGCHLD)
            m_child_changed = true;
        else
            on_signal(*received);
    }
}

void Supervision::on_signal(const ReceivedSignal& received) {
    const int signal = received.number;
    if (is_stop_signal(signal)) {
        if (!m_report.stop_signal) m_report.stop_signal = signal;
        m_abandon_output = has_ended();
    }
    if (signal == SIGTSTP) m_stop_asked = true;
    if (signal == SIGCONT) m_stop_asked = false;
    if (!has_ended() && !group_had(received) && !is_superseded(signal)) pass_on(signal);
}

bool Supervision::group_had(const ReceivedSignal& received) {
    if (!m_witness) return false;
    // Two that come at once may be one for the witness; of what the terminal itself sends we know.
    const bool group_got_it = m_witness->saw(received.number) || is_from_terminal(received);
    if (sigismember(&m_came_before, received.number) == 1) {
        sigdelset(&m_came_before, received.number);
        return false;
    }
    // A shell with job control has left our group.
    return group_got_it && getpgid(m_command) == getpgrp();
}

void Supervision::pass_on(int signal) {
    kill(m_witness ? m_command : -m_command, signal);
}

void Supervision::reap() {
    if (m_group_is_to_end && !has_ended() && !end_the_group()) return;
    const pid_t whom = getpid() == 1 ? k_anyone : m_command;
    int stopped_by = 0;
    int status = 0;
    while (!(has_ended() && whom != k_anyone)) {
        const pid_t pid = waitpid(whom, &status, WNOHANG | WUNTRACED);
        if (pid <= 0) break;
        if (pid != m_command) {
            if (m_witness) m_witness->reaped(pid);
        } else if (WIFSTOPPED(status)) {
            stopped_by = WSTOPSIG(status);
        } else {
            record_end(status);
        }
    }
    if (stopped_by != 0 && !has_ended()) follow_stop(stopped_by);
}

void Supervision::record_end(int status) {
    m_command = -1;
    if (WIFSIGNALED(status))
        m_report.end = Signaled{WTERMSIG(status)};
    else
        m_report.end = Exited{WEXITSTATUS(status)};
}

// Stops this process as the command was stopped, so that the shell sees its job stop.
void Supervision::follow_stop(int stop_signal) {
    settle_group_signals();
    drain_inbox();
    // A command that is asked by TSTP may stop itself by STOP. Any other STOP is somebody else's game with
    // the command alone, and nobody would continue us.
    if (stop_signal == SIGSTOP && !m_stop_asked) return;
    const bool can_be_same = m_witness && !SignalInbox::ignored_at_start(stop_signal);
    const int own = can_be_same ? stop_signal : SIGSTOP;
    m_stop_asked = false;
    if (own == SIGSTOP) {
        if (!is_continued()) raise(SIGSTOP);
        return;
    }
    sigset_t one;
    sigset_t before;
    sigemptyset(&one);
    sigaddset(&one, own);
    sigprocmask(SIG_BLOCK, &one, &before);
    drop_pending(one);
    raise(own);
    // A CONT from here on takes the pending stop away; one from before shows at the command.
    if (is_continued()) drop_pending(one);
    sigprocmask(SIG_UNBLOCK, &one, nullptr);
    sigprocmask(SIG_SETMASK, &before, nullptr);
}

bool Supervision::is_continued() const {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(m_command), &info, WCONTINUED | WNOHANG) == 0 && info.si_pid != 0;
}

}  // namespace jobthrottle
