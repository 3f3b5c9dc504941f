// SPDX-License-Identifier: MIT
#include "support/spawn.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

namespace jobthrottle::test {
namespace {

constexpr unsigned k_close_range_cloexec = 4;

std::vector<char*> pointers(const std::vector<std::string>& strings) {
    std::vector<char*> result;
    for (const std::string& text : strings)
        result.push_back(const_cast<char*>(text.c_str()));
    result.push_back(nullptr);
    return result;
}

void put(int from, int to) {
    if (from < 0) {
        close(to);
    } else {
        dup2(from, to);
    }
}

void hide_descriptors(const std::vector<int>& kept) {
    if (syscall(SYS_close_range, 3U, ~0U, k_close_range_cloexec) != 0) {
        for (int fd = 3; fd < 4096; ++fd) {
            if (const int flags = fcntl(fd, F_GETFD); flags >= 0) fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
        }
    }
    for (const int fd : kept)
        fcntl(fd, F_SETFD, 0);
}

void reset_signals(const std::vector<int>& ignored) {
    struct sigaction action {};
    sigemptyset(&action.sa_mask);
    action.sa_handler = SIG_DFL;
    for (int number = 1; number < NSIG; ++number)
        sigaction(number, &action, nullptr);
    action.sa_handler = SIG_IGN;
    for (const int number : ignored)
        sigaction(number, &action, nullptr);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Between fork and exec: only calls that are safe there, since the test may have threads.
[[noreturn]] void become(const SpawnPlan& plan, char* const* argv, char* const* env, pid_t parent,
                         int errors) {
    if (plan.own_group) setpgid(0, 0);
    reset_signals(plan.ignored_signals);
    put(plan.in, 0);
    put(plan.out, 1);
    put(plan.err, 2);
    hide_descriptors(plan.keep_fds);
    bool ready = plan.cwd.empty() || chdir(plan.cwd.c_str()) == 0;
    if (ready && plan.die_with_parent) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(127);
    }
    if (ready) execvpe(argv[0], argv, env);
    const int error = errno;
    [[maybe_unused]] const ssize_t told = write(errors, &error, sizeof error);
    _exit(127);
}

}  // namespace

Fd above_standard(Fd fd) {
    if (fd.get() > 2) return fd;
    Fd moved(fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
    if (!moved) throw std::runtime_error(std::string("no descriptor: ") + std::strerror(errno));
    return moved;
}

Pipe make_pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
    Fd read_end(ends[0]);
    Fd write_end(ends[1]);
    return {above_standard(std::move(read_end)), above_standard(std::move(write_end))};
}

void set_nonblocking(int fd) {
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

pid_t spawn(const SpawnPlan& plan) {
    const std::vector<char*> argv = pointers(plan.argv);
    const std::vector<char*> env = pointers(plan.env);
    Pipe errors = make_pipe();
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
    if (pid == 0) become(plan, argv.data(), env.data(), parent, errors.write_end.get());
    if (plan.own_group) setpgid(pid, pid);
    errors.write_end.reset();
    int error = 0;
    ssize_t got = 0;
    do {
        got = read(errors.read_end.get(), &error, sizeof error);
    } while (got < 0 && errno == EINTR);
    if (got == static_cast<ssize_t>(sizeof error)) {
        waitpid(pid, nullptr, 0);
        throw std::runtime_error("cannot execute " + plan.argv.at(0) + ": " + std::strerror(error));
    }
    return pid;
}

}  // namespace jobthrottle::test
