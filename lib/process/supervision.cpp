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

void drop_pending(const sigset_t& set) {
    const timespec at_once{};
    while (sigtimedwait(&set, nullptr, &at_once) > 0) {
    }
}

}  // namespace

Supervision::Supervision(SignalInbox& inbox, pid_t command, std::optional<GroupWitness> witness,
                         sigset_t came_before)
    : m_inbox(inbox), m_command(command), m_witness(std::move(witness)), m_came_before(came_before) {}

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
    std::array<pollfd, 1 + OutputPipes::k_polls> polls{};
    polls[0] = {m_inbox.fd(), POLLIN, 0};
    pipes.prepare(&polls[1]);
    if (poll(polls.data(), polls.size(), -1) <= 0) return;
    // Output first: what the command wrote before it ended is then mostly passed on when its end is seen.
    pipes.act(&polls[1]);
    if (polls[0].revents != 0) read_signals();
}

void Supervision::read_signals() {
    drain_inbox();
    while (std::exchange(m_child_changed, false))
        reap();
}

void Supervision::drain_inbox() {
    while (const auto signal = m_inbox.next()) {
        if (*signal == SIGCHLD)
            m_child_changed = true;
        else
            on_signal(*signal);
    }
}

void Supervision::on_signal(int signal) {
    if (is_stop_signal(signal)) {
        if (!m_report.stop_signal) m_report.stop_signal = signal;
        // Nobody reads the output of a command that has ended, and we are asked to go.
        m_abandon_output = has_ended();
    }
    if (signal == SIGTSTP) m_stop_asked = true;
    if (signal == SIGCONT) m_stop_asked = false;
    if (!has_ended() && !group_had(signal)) pass_on(signal);
}

bool Supervision::group_had(int signal) {
    if (!m_witness) return false;
    const bool group_got_it = m_witness->saw(signal);
    if (sigismember(&m_came_before, signal) == 1) {
        sigdelset(&m_came_before, signal);
        return false;
    }
    // A shell with job control has left our group.
    return group_got_it && getpgid(m_command) == getpgrp();
}

void Supervision::pass_on(int signal) {
    const bool leads_group = !m_witness && getpgid(m_command) == m_command;
    kill(leads_group ? -m_command : m_command, signal);
}

void Supervision::reap() {
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
