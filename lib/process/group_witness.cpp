// SPDX-License-Identifier: MIT
#include "process/group_witness.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string>

namespace jobthrottle {

namespace {

[[noreturn]] void witness_main(int socket, pid_t parent) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    // It must hold nothing open that others wait to see closed.
    if (dup2(socket, 0) < 0) _exit(0);
    close_range(1, ~0U, 0);

    unsigned char question = 0;
    while (read(0, &question, 1) == 1) {
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, question);
        const timespec at_once{};
        const unsigned char answer = sigtimedwait(&one, nullptr, &at_once) == question ? 1 : 0;
        if (write(0, &answer, 1) != 1) break;
    }
    _exit(0);
}

}  // namespace

Result<GroupWitness> GroupWitness::start() {
    std::array<int, 2> pair{};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0)
        return internal_error(std::string("cannot make a socket pair: ") + std::strerror(errno));
    Fd ours{pair[0]};
    const Fd theirs{pair[1]};
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0) return internal_error(std::string("cannot start a process: ") + std::strerror(errno));
    if (pid == 0) witness_main(theirs.get(), parent);
    return GroupWitness{std::move(ours), pid};
}

GroupWitness::~GroupWitness() {
    if (m_pid < 0) return;
    kill(m_pid, SIGKILL);
    while (waitpid(m_pid, nullptr, 0) < 0 && errno == EINTR) {
    }
}

bool GroupWitness::saw(int signal) {
    settle_group_signals();
    const auto question = static_cast<unsigned char>(signal);
    if (m_pid < 0 || send(m_socket.get(), &question, 1, MSG_NOSIGNAL) != 1) return false;
    constexpr int k_step_ms = 50;
    while (true) {
        pollfd answered{m_socket.get(), POLLIN, 0};
        if (poll(&answered, 1, k_step_ms) > 0) break;
        // Stopped with the group, of which only we were continued: it has to be able to answer.
        int status = 0;
        if (waitpid(m_pid, &status, WNOHANG | WUNTRACED) == m_pid) {
            if (!WIFSTOPPED(status)) {
                m_pid = -1;
                return false;
            }
            kill(m_pid, SIGCONT);
        }
    }
    unsigned char answer = 0;
    return recv(m_socket.get(), &answer, 1, 0) == 1 && answer == 1;
}

void GroupWitness::reaped(pid_t pid) {
    if (pid == m_pid) m_pid = -1;
}

void settle_group_signals() {
    // The kernel sends to a group under its task list lock, held for reading; setpgid takes it for writing.
    // This call changes nothing.
    setpgid(0, getpgrp());
}

}  // namespace jobthrottle
