// SPDX-License-Identifier: MIT
#include "core/judgement.hpp"

#include <algorithm>

#include "core/start_log.hpp"

namespace jobthrottle {

namespace {

constexpr std::int64_t k_late_slots = 2;  // made good when the line has been slow; older ones are lost
constexpr std::int64_t k_shortest_retry_us = 1000;

// The first slot that is free under one rate.
Slot base_of(const ClockedKey& key, const Standing& standing, const Rate& rate, std::size_t row) {
    const Header& header = key.header();
    Slot base = slot_before(key.now_us(), std::min(standing.others, k_late_slots) + rate.burst() - 1, rate);
    if (header.paused_until_us > 0) base = std::max(base, Slot{header.paused_until_us, 0});
    if (const auto last = header.rows[row].slot_for(rate))
        base = std::max(base, slot_after(*last, header.rows[row].slot_cost, rate));
    return base;
}

// What the rates have to say of one asker.
class Pacing {
public:
    Pacing(const ClockedKey& key, const Standing& standing, const std::vector<Rate>& rates, Judgement& out)
        : m_rates(rates), m_slots(out.slots) {
        for (std::size_t i = 0; i < rates.size(); ++i)
            m_slots[i] = base_of(key, standing, rates[i], i);
    }
    // When the start is due that this many come before.
    std::int64_t due_us(std::int64_t cost_before) const {
        std::int64_t due = 0;
        for (std::size_t i = 0; i < m_rates.size(); ++i)
            due = std::max(due, slot_after(m_slots[i], cost_before, m_rates[i]).rounded_up_us());
        return due;
    }
    std::int64_t base_us() const { return due_us(0); }

private:
    const std::vector<Rate>& m_rates;
    std::array<Slot, Terms::k_most_rates>& m_slots;
};

// Those ahead that could start now: the window and the leases must have room for them, too.
struct Ahead {
    std::int64_t count = 0;
    std::int64_t cost = 0;
};

Ahead due_ahead(const ClockedKey& key, const Standing& standing, const Pacing& pacing) {
    Ahead ahead;
    const std::int64_t considered = std::min(standing.rank, k_room_kept_for);
    while (ahead.count < considered && pacing.due_us(ahead.cost) <= key.now_us()) {
        const auto place = static_cast<std::size_t>(ahead.count);
        ahead.cost += place < standing.costs_ahead.size() ? standing.costs_ahead[place] : 1;
        ++ahead.count;
    }
    return ahead;
}

// A caller that is away and has a lower number.
struct CallerBefore {
    std::int64_t cost = 0;  // 0: there is none
    std::int64_t told_us = 0;
};

CallerBefore caller_before(ClockedKey& key, const Standing& standing) {
    if (key.header().away == 0) return {};
    const auto lowest = key.records().lowest_away();
    if (!lowest || lowest->number >= standing.number) return {};
    const auto ticket = key.ticket(lowest->id);
    return ticket ? CallerBefore{ticket->cost, ticket->told_us} : CallerBefore{};
}

struct Window {
    bool has_room = true;
    std::int64_t opens_us = 0;
};

// When all windows have room for the asker and those ahead. For a caller room is kept in the window in which
// it is to come: what starts before that is out of its way.
Window window_of(ClockedKey& key, const Standing& standing, const std::vector<Rate>& rates,
                 std::int64_t cost_ahead, bool count_successes) {
    const StartLogs logs(key.records(), key.header());
    const CallerBefore caller = caller_before(key, standing);
    Window window;
    const bool fits = std::all_of(rates.begin(), rates.end(), [&](const Rate& rate) {
        return cost_ahead + caller.cost + standing.cost <= rate.allow();
    });
    for (const Rate& rate : rates) {
        std::int64_t taken = cost_ahead + standing.cost;
        if (fits && caller.told_us < key.now_us() + rate.period().count()) taken += caller.cost;
        if (count_successes && key.header().open > 0) {
            const std::int64_t before = key.now_us() - rate.period().count();
            taken += key.records().open_since(before, rate.allow());
        }
        if (taken > rate.allow()) {
            window.has_room = false;
            continue;
        }
        const auto oldest = logs.start_back(rate, rate.allow() - taken + 1);
        if (oldest) window.opens_us = std::max(window.opens_us, *oldest + rate.period().count());
    }
    return window;
}

// Nothing is kept for a caller that is away: a place in a window passes by, one of these would stand empty.
// Nor for who is asleep.
bool lease_is_free(ClockedKey& key, const Terms& terms, std::int64_t ahead) {
    if (!terms.concurrency()) return true;
    const std::int64_t free = *terms.concurrency() - key.header().places;
    if (free <= 0 || ahead < free) return free > 0;
    std::int64_t awake = 0;
    for (const auto& place : key.records().line_head(ahead)) {
        const auto ticket = key.ticket(place.id);
        if (!ticket || is_awake(*ticket, key.now_us())) ++awake;
    }
    return awake < free;
}

// Who came before the end of a pause, or stands behind one who did, is paced even without a rate.
bool is_recovering(ClockedKey& key, const Standing& standing) {
    const Header& header = key.header();
    if (key.paused()) return true;
    if (header.paced_number == 0) return false;
    if (standing.number <= std::min(header.paced_number, header.numbers)) return true;
    if (standing.others == 0) return false;
    const auto head = key.records().line_head(1);
    return !head.empty() && head.front().number <= header.paced_number;
}

void add_costs(ClockedKey& key, Standing& standing, std::int64_t own_cost) {
    const Header& header = key.header();
    const std::int64_t others_cost = header.line_cost - own_cost;
    if (others_cost == standing.others) {  // all of them count as one
        standing.cost_ahead = standing.rank;
        return;
    }
    std::int64_t exact = 0;
    for (const auto& place : key.records().line_head(std::min(standing.rank, k_ranked))) {
        const auto ticket = key.ticket(place.id);
        const std::int64_t cost = ticket ? ticket->cost : 1;
        if (static_cast<std::int64_t>(standing.costs_ahead.size()) < k_room_kept_for)
            standing.costs_ahead.push_back(cost);
        exact += cost;
    }
    standing.cost_ahead = exact;
    if (standing.rank <= k_ranked) return;
    const std::int64_t mean = std::max<std::int64_t>(
        1, (others_cost - exact) / std::max<std::int64_t>(1, standing.others - k_ranked));
    standing.cost_ahead += (standing.rank - k_ranked) * mean;
}

}  // namespace

const Rate& pause_only_pace() {
    static const Rate pace = *Rate::make(10, std::chrono::seconds{1});
    return pace;
}

std::int64_t grant_us(const Terms& terms) {
    std::int64_t grant = pause_only_pace().grant().count();
    for (const Rate& rate : terms.rates())
        grant = std::min<std::int64_t>(grant, rate.grant().count());
    return grant;
}

Standing standing_of(ClockedKey& key, const std::optional<Ticket>& own, std::int64_t cost) {
    const Header& header = key.header();
    Standing standing;
    standing.cost = cost;
    const bool in_line = own && own->place == Place::in_line;
    standing.others = header.in_line - (in_line ? 1 : 0);
    if (!own) {
        standing.number = header.numbers + 1;
        standing.rank = standing.others;
    } else {
        standing.number = own->number;
        standing.rank = standing.others == 0 ? 0 : key.records().in_line_before(own->number, k_ranked);
        if (standing.rank == k_ranked) {
            const auto head = key.records().line_head(k_ranked);
            const std::int64_t last_ranked = head.empty() ? own->number : head.back().number;
            standing.rank = std::min(standing.others, k_ranked + own->number - last_ranked - 1);
        }
    }
    add_costs(key, standing, in_line ? own->cost : 0);
    return standing;
}

Judgement judge(ClockedKey& key, const Standing& standing, const Terms& terms, bool count_successes) {
    const Header& header = key.header();
    const std::int64_t now = key.now_us();
    const bool paced = !terms.rates().empty() || is_recovering(key, standing);
    static const std::vector<Rate> k_pause_only{pause_only_pace()};
    static const std::vector<Rate> k_unpaced;
    const auto& rates = !terms.rates().empty() ? terms.rates() : paced ? k_pause_only : k_unpaced;
    Judgement judgement;
    const Pacing pacing(key, standing, rates, judgement);
    const std::int64_t base = paced ? pacing.base_us() : now;
    const std::int64_t due = paced ? pacing.due_us(standing.cost_ahead) : now;

    const Ahead ahead = due_ahead(key, standing, pacing);
    const Window window = window_of(key, standing, terms.rates(), ahead.cost, count_successes);
    // An attempt under way counts also when its start leaves the window: no start is granted ahead over that.
    const bool may_get_room = count_successes && header.open > 0;
    const std::int64_t grant = judgement.grant_us = may_get_room ? 0 : grant_us(terms);
    const std::int64_t not_before = std::max(window.opens_us, header.last_start_us);
    const std::int64_t at = std::max({now, base, not_before});
    judgement.possible_us = std::max({now, due, not_before, header.paused_until_us});
    const bool could = !key.paused() && due <= now + grant && standing.rank < k_ranked;
    const bool free = lease_is_free(key, terms, ahead.count);
    if (could && window.has_room && at <= now + grant && free) {
        judgement.starts = true;
        if (!paced) judgement.slots[0] = {at, 0};
        judgement.start_at_us = judgement.possible_us = judgement.ask_again_us = at;
        return judgement;
    }
    const bool far = terms.concurrency() && standing.rank >= k_ranked;
    // Where successes count, one under way may fail and give its start back.
    judgement.waits_for_lease =
        !key.paused() &&
        (may_get_room || (base <= now + grant && window.has_room && at <= now + grant && (!free || far)));
    std::int64_t until = std::max(due, not_before) - grant;
    judgement.rates_us = until;
    // Held up by those ahead alone: they ask soon. In a pause its end is what to wait for.
    if (until <= now && !key.paused()) {
        const std::int64_t spacing = rates.empty() ? grant : rates.front().spacing_us();
        until = now + std::max(k_shortest_retry_us, std::min(grant, spacing) / 2);
    }
    judgement.ask_again_us = std::max(until, header.paused_until_us);
    return judgement;
}

}  // namespace jobthrottle
