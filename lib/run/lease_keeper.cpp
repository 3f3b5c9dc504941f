// SPDX-License-Identifier: MIT
#include "run/lease_keeper.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>

namespace jobthrottle {

namespace {

using namespace std::chrono_literals;

// How often to look for an answer: well within what is left of a short lease.
Duration look_after(Duration lock_for) {
    constexpr Duration k_shortest = 5ms;
    constexpr Duration k_longest = 100ms;
    return std::clamp(lock_for / 30, k_shortest, k_longest);
}

}  // namespace

LeaseKeeper::LeaseKeeper(std::vector<HeldLease> leases, Store& store, OpenStore open_own, OnLeaseLost on_lost,
                         Events& events, std::function<BootTime()> clock)
    : m_store(store), m_open_own(std::move(open_own)), m_events(events), m_clock(std::move(clock)) {
    for (auto& lease : leases) {
        const LeaseWatch watch{lease.lock_for, lease.taken, lease.place ? on_lost : OnLeaseLost::warn};
        m_kept.push_back({std::move(lease), watch});
    }
}

LeaseKeeper::~LeaseKeeper() = default;

void LeaseKeeper::started(pid_t command) {
    m_command = command;
    const std::string processes = m_store.processes(getpid(), command);
    if (processes.empty()) return;
    for (const auto& [lease, watch] : m_kept) {
        // What fails here is told again with the first renewal.
        if (!m_store.renew(lease.key, {lease.id, lease.lock_for, processes})) break;
    }
    m_store.rest();
}

BootTime LeaseKeeper::due() const {
    BootTime due = m_look_at;
    for (const auto& kept : m_kept)
        due = std::min(due, kept.watch.due());
    return due;
}

std::optional<int> LeaseKeeper::act() {
    const BootTime now = m_clock();
    take_answers(now);
    ask_for_renewals(now);
    m_look_at = BootTime::max();
    std::optional<int> wanted;
    for (auto& [lease, watch] : m_kept) {
        const auto step = watch.at(now);
        tell(lease, step.news);
        if (step.signal && wanted != SIGKILL) wanted = step.signal;
        if (watch.is_asking()) m_look_at = std::min(m_look_at, now + look_after(lease.lock_for));
    }
    return to_send(wanted);
}

void LeaseKeeper::take_answers(BootTime now) {
    if (!m_renewer) return;
    for (const auto& [number, asked, answer] : m_renewer->take_answers()) {
        auto& [lease, watch] = m_kept.at(number);
        tell(lease, watch.answered(asked, answer, now));
    }
}

void LeaseKeeper::ask_for_renewals(BootTime now) {
    std::vector<Renewer::Wanted> wanted;
    for (std::size_t number = 0; number < m_kept.size(); ++number) {
        auto& [lease, watch] = m_kept[number];
        if (!watch.wants_renewal(now)) continue;
        watch.asking(now);
        wanted.push_back({number,
                          lease.key,
                          {lease.id, lease.lock_for, {}, lease.concurrency, lease.birth_us, lease.who}});
    }
    if (wanted.empty()) return;
    if (!m_renewer) m_renewer = std::make_unique<Renewer>(m_open_own, m_command, m_clock);
    m_renewer->ask(std::move(wanted));
}

void LeaseKeeper::tell(const HeldLease& lease, const LeaseNews& news) {
    if (!lease.place) return;
    switch (news.what) {
        case LeaseNews::What::nothing:
            break;
        case LeaseNews::What::lost:
            m_events.lease_lost(lease.key, news.lost_for, news.killed);
            break;
        case LeaseNews::What::retaken:
            m_events.lease_retaken(lease.key, news.lost_for);
            break;
    }
}

// One TERM for all leases: a second one would have some programs skip their cleaning up.
std::optional<int> LeaseKeeper::to_send(std::optional<int> wanted) {
    if (!wanted || m_sent == SIGKILL || m_sent == wanted) return std::nullopt;
    m_sent = wanted;
    return wanted;
}

}  // namespace jobthrottle
