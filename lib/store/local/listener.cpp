// SPDX-License-Identifier: MIT
#include "store/local/listener.hpp"

#include <algorithm>
#include <utility>

#include "store/local/processes.hpp"

namespace jobthrottle::local {

namespace {

// Every so many places that get a file see to it that dead ones do not pile up.
constexpr TicketId k_sweep_every = 16;
constexpr std::int64_t k_leases_seen = 2 * static_cast<std::int64_t>(Listener::k_most_watched);

}  // namespace

void Listener::begin(const std::vector<Asked>& asked) {
    m_over.clear();
    m_asking.clear();
    m_woken.clear();
    for (const auto& one : asked) {
        m_asking.insert(one.question.place);
        const auto found = m_waiting.find(one.question.place);
        if (found != m_waiting.end()) found->second.file.drain();
    }
}

bool Listener::wake(TicketId place) {
    if (m_asking.count(place) == 0) return m_files.wake(place);
    m_woken.insert(place);
    return true;
}

bool Listener::prepare(const Asked& asked, const Answer& answer, const LocalRecords& records,
                       const std::function<FilePlan()>& rights) {
    const TicketId place = asked.question.place;
    if (answer.wake == 0 && m_waiting.count(place) == 0) return true;
    const auto ticket = records.ticket(place);
    if (!ticket || ticket->wake == 0) {
        m_over.emplace_back(asked.key, place);
        return true;
    }
    if (!make_file(place, rights)) return false;
    if (m_woken.erase(place) > 0) m_waiting[place].file.ring();
    auto& holdings = m_waiting[place].keys[asked.key];
    holdings.clear();
    for (auto& [id, lease] : records.leases(k_leases_seen)) {
        if (lease.held && (lease.place || lease.open)) holdings.push_back({id, std::move(lease.processes)});
    }
    return true;
}

bool Listener::make_file(TicketId place, const std::function<FilePlan()>& rights) {
    const auto found = m_waiting.find(place);
    if (found != m_waiting.end() && found->second.file.is_in_place()) return true;
    if (place % k_sweep_every == 0) m_files.sweep();
    auto made = WakeFile::make(m_files.path_of(place), rights());
    if (!made) return false;
    m_waiting[place].file = *std::move(made);
    return true;
}

void Listener::end(bool counted) {
    for (const auto& [key, place] : m_over) {
        if (counted) drop(key, place);
    }
    m_over.clear();
    m_asking.clear();
}

void Listener::drop(const Key& key, TicketId place) {
    const auto found = m_waiting.find(place);
    if (found == m_waiting.end()) return;
    found->second.keys.erase(key);
    if (!found->second.keys.empty()) return;
    m_waiting.erase(found);
    if (m_waiting.empty()) m_watched.clear();
}

std::vector<int> Listener::listen(const std::vector<WakeUp>& wakeups) {
    std::vector<int> descriptors;
    std::set<LeaseId> dead;
    m_watched.clear();
    for (const auto& wakeup : wakeups) {
        const auto found = m_waiting.find(wakeup.place);
        if (found == m_waiting.end()) continue;
        const auto& [file, keys] = found->second;
        if (std::find(descriptors.begin(), descriptors.end(), file.fd()) == descriptors.end())
            descriptors.push_back(file.fd());
        const auto held = keys.find(wakeup.key);
        if (held == keys.end()) continue;
        for (const auto& holding : held->second) {
            if (watch_holder(holding)) continue;
            // It died between the last question and now, and nobody else tells.
            dead.insert(holding.id);
            if (m_found_dead.count(holding.id) == 0) file.ring();
        }
    }
    m_found_dead = std::move(dead);
    for (const auto& watched : m_watched)
        descriptors.push_back(watched.get());
    return descriptors;
}

// False: it is surely dead.
bool Listener::watch_holder(const Holding& holding) {
    const auto group = processes_in_sight(holding.processes);
    if (!group) return true;
    bool lives = false;
    for (const auto& member : group->members) {
        Fd fd = m_watched.size() < k_most_watched ? watch(member) : Fd();
        lives = lives || fd || life_of(member) != HolderLife::dead;
        if (fd) m_watched.push_back(std::move(fd));
    }
    return lives;
}

}  // namespace jobthrottle::local
