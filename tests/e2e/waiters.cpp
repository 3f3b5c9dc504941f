// SPDX-License-Identifier: MIT
#include "waiters.hpp"

#include <poll.h>
#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <stdexcept>

#include "run/gate.hpp"
#include "store/open.hpp"
#include "support/silent_events.hpp"

namespace jobthrottle::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t k_stack = 256 * 1024;  // of a thread, so that thousands fit anywhere
constexpr Duration k_longest_nap = 200ms;    // then it looks whether it is to go

class ThreadSleeper final : public Sleeper {
public:
    explicit ThreadSleeper(const std::atomic<bool>& stop) : m_stop(stop) {}

    using Sleeper::sleep_until;
    Wake sleep_until(BootTime due, const std::vector<int>& wakes) override {
        std::vector<pollfd> fds;
        for (const int fd : wakes)
            fds.push_back({fd, POLLIN, 0});
        while (!m_stop) {
            const Duration left = due - now();
            if (left <= Duration::zero()) return {};
            const Duration nap = std::min(left, k_longest_nap);
            const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(nap).count();
            const timespec length{0, static_cast<long>(ns)};
            if (ppoll(fds.data(), fds.size(), &length, nullptr) > 0) return {WakeReason::woken, 0};
        }
        return {WakeReason::stop_signal, SIGTERM};
    }
    BootTime now() const override { return BootClock::now(); }
    std::optional<int> stop_signal() const override {
        return m_stop ? std::optional<int>(SIGTERM) : std::nullopt;
    }

private:
    const std::atomic<bool>& m_stop;
};

}  // namespace

Waiters::Waiters(std::string store_url, std::string key, Terms terms)
    : m_store_url(std::move(store_url)), m_key(std::move(key)), m_terms(std::move(terms)) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, k_stack);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
}

Waiters::~Waiters() {
    m_stop = true;
    for (std::thread& thread : m_threads)
        if (thread.joinable()) thread.join();
}

void Waiters::add_one() {
    m_threads.emplace_back([this] { wait_for_a_start(); });
}

void Waiters::finish() {
    for (std::thread& thread : m_threads)
        thread.join();
    m_threads.clear();
    if (!m_faults.empty())
        throw std::runtime_error(std::to_string(m_faults.size()) +
                                 " were not let through, the first: " + m_faults.front());
}

void Waiters::wait_for_a_start() {
    StoreSettings settings;
    settings.url = m_store_url;
    settings.command_timeout = 10s;
    settings.connect_timeout = 10s;
    StoreNotices notices;
    auto store = open_store(settings, notices);
    GateOptions options;
    Claim claim(Key::make(m_key).value());
    claim.terms = m_terms;
    options.claims.push_back(std::move(claim));
    options.max_wait = std::nullopt;
    options.who = "waiter test@test:1";
    ThreadSleeper sleeper(m_stop);
    SilentEvents events;
    const auto no_fallback = []() -> Result<std::unique_ptr<Store>> {
        return unavailable_error("there is no other store");
    };
    Gate gate(std::move(options), **store, no_fallback, sleeper, events);
    const Admission admission = gate.pass();
    const BootTime at = BootClock::now();
    const auto* admitted = std::get_if<Admitted>(&admission);
    {
        const std::lock_guard lock(m_mutex);
        if (admitted != nullptr) m_passed.push_back({gate.last_answer()->number, at});
        if (admitted == nullptr && !m_stop) {
            const auto* error = std::get_if<Error>(&admission);
            m_faults.push_back(error != nullptr ? error->message : "throttled");
        }
    }
    if (admitted != nullptr) gate.attempt_over(*admitted, true);
}

std::size_t Waiters::count_passed() const {
    const std::lock_guard lock(m_mutex);
    return m_passed.size();
}

std::vector<Waiters::Passed> Waiters::passed() const {
    const std::lock_guard lock(m_mutex);
    std::vector<Passed> sorted = m_passed;
    std::sort(sorted.begin(), sorted.end(), [](const Passed& a, const Passed& b) { return a.at < b.at; });
    return sorted;
}

}  // namespace jobthrottle::test
