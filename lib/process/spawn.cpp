// SPDX-License-Identifier: MIT
#include "process/spawn.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "process/signals.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define JT_NO_SANITIZER __attribute__((no_sanitize("address")))
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define JT_NO_SANITIZER __attribute__((no_sanitize_address))
#endif
#ifndef JT_NO_SANITIZER
#define JT_NO_SANITIZER
#endif

namespace jobthrottle {

namespace {

struct Birth {
    const ExecImage& image;
    const SpawnPlan& plan;
    pid_t parent;
    int error;  // told by the child, which shares our memory while we stand still
};

// The child borrows our memory until it execs: no copy of it is made, which is what a fork takes its time
// for.
class ChildStack {
public:
    explicit ChildStack(std::size_t need) : m_size(need) {
        m_base =
            mmap(nullptr, m_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    }
    ~ChildStack() {
        if (ok()) munmap(m_base, m_size);
    }
    ChildStack(const ChildStack&) = delete;
    ChildStack& operator=(const ChildStack&) = delete;
    bool ok() const { return m_base != MAP_FAILED; }
    void* top() const { return static_cast<char*>(m_base) + (m_size & ~std::size_t{15}); }

private:
    std::size_t m_size;
    void* m_base;
};

JT_NO_SANITIZER int child_main(void* argument) {
    auto& birth = *static_cast<Birth*>(argument);
    const auto& plan = birth.plan;
    if (plan.dies_with_us) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        // A parent that died before that call sends nothing any more. 0 is one outside our process namespace.
        const pid_t parent = getppid();
        if (parent != birth.parent && parent != 0) _exit(128 + SIGTERM);
    }
    if (plan.own_group) setpgid(0, 0);
    if ((plan.output >= 0 && dup2(plan.output, STDOUT_FILENO) < 0) ||
        (plan.error_output >= 0 && dup2(plan.error_output, STDERR_FILENO) < 0)) {
        birth.error = errno;
        _exit(127);
    }
    SignalInbox::restore_for_child();
    birth.error = birth.image.exec();
    _exit(127);
}

}  // namespace

Result<std::variant<pid_t, ChildEnd>> spawn(const ExecImage& image, const SpawnPlan& plan) {
    const ChildStack stack{image.stack_need()};
    if (!stack.ok())
        return internal_error(std::string("no memory to start a process: ") + std::strerror(errno));
    Birth birth{image, plan, getpid(), 0};
    const pid_t pid = clone(child_main, stack.top(), CLONE_VM | CLONE_VFORK | SIGCHLD, &birth);
    if (pid < 0) return internal_error(std::string("cannot start a process: ") + std::strerror(errno));
    if (birth.error == 0) return std::variant<pid_t, ChildEnd>{pid};
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return std::variant<pid_t, ChildEnd>{end_of_failed_exec(birth.error)};
}

}  // namespace jobthrottle
