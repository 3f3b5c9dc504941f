// SPDX-License-Identifier: MIT
#include "cli/follower.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "process/signals.hpp"
#include "store/local/processes.hpp"

namespace jobthrottle {

namespace {

using namespace std::chrono_literals;

constexpr Duration k_ask_again = 2s;    // a store that is away
constexpr Duration k_look_again = 1s;   // at a process that cannot be watched
constexpr Duration k_longest_nap = 1h;  // poll takes milliseconds in an int

// Keeps leases while a process lives; runs in a process of its own.
class Keeper {
public:
    Keeper(const Followed& followed, std::vector<HeldLease> leases, std::unique_ptr<Store> store)
        : m_followed{followed.pid, followed.began},
          m_leases(std::move(leases)),
          m_store(std::move(store)),
          m_end(local::watch(m_followed)) {}

    void keep() {
        BootTime due = m_leases.front().taken + third();
        while (!m_leases.empty()) {
            m_store->rest();
            if (sleep_until(due)) return release_all();
            due = BootClock::now() + (renew_all() ? third() : std::min(third(), k_ask_again));
        }
    }

private:
    Duration shortest() const {
        return std::min_element(m_leases.begin(), m_leases.end(),
                                [](const auto& a, const auto& b) { return a.lock_for < b.lock_for; })
            ->lock_for;
    }
    Duration third() const { return m_leases.empty() ? Duration::zero() : shortest() / 3; }

    // True: the followed process has ended.
    bool sleep_until(BootTime due) {
        while (true) {
            const Duration left = due - BootClock::now();
            if (left <= Duration::zero()) return has_ended();
            const Duration nap = std::min(left, m_end ? k_longest_nap : k_look_again);
            pollfd end{m_end.get(), POLLIN, 0};
            const auto ms = std::chrono::ceil<std::chrono::milliseconds>(nap).count();
            if (poll(&end, m_end ? 1 : 0, static_cast<int>(ms)) > 0 || has_ended()) return true;
        }
    }
    bool has_ended() const { return local::life_of(m_followed) == HolderLife::dead; }

    // False: the store could not be told.
    bool renew_all() {
        bool told = true;
        const auto is_gone = [&](const HeldLease& lease) {
            const auto answer = m_store->renew(lease.key, {lease.id, lease.lock_for, {}});
            told = told && answer.ok();
            return answer && answer->state == LeaseState::unknown;
        };
        m_leases.erase(std::remove_if(m_leases.begin(), m_leases.end(), is_gone), m_leases.end());
        return told;
    }

    // Asks until the leases would have run out by themselves.
    void release_all() {
        const BootTime until = BootClock::now() + shortest();
        while (true) {
            const auto is_released = [&](const HeldLease& lease) {
                return m_store->release(lease.key, {lease.id, false}).ok();
            };
            m_leases.erase(std::remove_if(m_leases.begin(), m_leases.end(), is_released), m_leases.end());
            if (m_leases.empty() || BootClock::now() >= until) return;
            const auto ms = std::chrono::ceil<std::chrono::milliseconds>(k_ask_again).count();
            (void)poll(nullptr, 0, static_cast<int>(ms));
        }
    }

    local::Process m_followed;
    std::vector<HeldLease> m_leases;
    std::unique_ptr<Store> m_store;
    Fd m_end;  // readable when the process has ended; none where the kernel has no such thing
};

void close_all_from(unsigned first) {
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, ~0U, 0U) == 0) return;
#endif
    const long most = sysconf(_SC_OPEN_MAX);
    for (long fd = static_cast<long>(first); fd < most; ++fd)
        (void)close(static_cast<int>(fd));
}

void let_go_of_everything() {
    const int nothing = open("/dev/null", O_RDWR);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
        (void)dup2(nothing, fd);
    close_all_from(STDERR_FILENO + 1);
    (void)!chdir("/");  // so that no file system is kept busy
    SignalInbox::restore_for_child();
}

[[noreturn]] void be_keeper(const Followed& followed, const std::vector<HeldLease>& leases,
                            const OpenStore& open_store) {
    let_go_of_everything();
    auto store = open_store();
    if (store) Keeper(followed, leases, std::move(store).value()).keep();
    _exit(0);
}

Error cannot_fork(int error) {
    return internal_error(std::string("no process could be left behind to renew the lease (") +
                          std::strerror(error) + "): it runs out after --lock-for");
}

}  // namespace

std::optional<Followed> find_followed(pid_t pid) {
    const auto seen = local::processes_in_sight(local::processes_text(pid, 0));
    if (!seen || seen->members.empty()) return std::nullopt;
    return Followed{seen->members.front().pid, seen->members.front().began};
}

Result<void> leave_keeper(const Followed& followed, const std::vector<HeldLease>& leases,
                          const OpenStore& open_store) {
    const pid_t between = fork();
    if (between < 0) return cannot_fork(errno);
    if (between == 0) {
        (void)setsid();
        const pid_t keeper = fork();
        if (keeper == 0) be_keeper(followed, leases, open_store);
        _exit(keeper < 0 ? errno : 0);
    }
    int status = 0;
    while (waitpid(between, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    return cannot_fork(WIFEXITED(status) ? WEXITSTATUS(status) : 0);
}

}  // namespace jobthrottle
