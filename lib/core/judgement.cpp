// SPDX-License-Identifier: MIT
#include "core/judgement.hpp"

#include <algorithm>

#include "core/start_log.hpp"

namespace jobthrottle {

namespace {

constexpr std::int64_t k_late_slots = 2;  // made good when the line has been slow; older ones are lost
constexpr std::int64_t k_room_kept_for =
    16;  // of those ahead, the first so many have room kept in the window
constexpr std::int64_t k_shortest_retry_us = 1000;

// How many of those ahead could start now: the window must have room for them, too.
std::int64_t due_ahead(ClockedKey& key, const Slot& base, const Standing& standing, const Rate& rate) {
    std::int64_t due = 0;
    const std::int64_t considered = std::min(standing.rank, k_room_kept_for);
    while (due < considered && slot_after(base, due, rate).rounded_up_us() <= key.now_us())
        ++due;
    if (due < rate.allow() - 1 && key.header().away > 0) {
        const auto lowest = key.records().lowest_away_number();
        if (lowest && *lowest < standing.number) ++due;
    }
    return due;
}

}  // namespace

const Rate& pause_only_pace() {
    static const Rate pace = *Rate::make(10, std::chrono::seconds{1});
    return pace;
}

Standing standing_of(ClockedKey& key, const std::optional<Ticket>& own) {
    const Header& header = key.header();
    Standing standing;
    standing.others = header.in_line - (own && own->place == Place::in_line ? 1 : 0);
    if (!own) {
        standing.number = header.numbers + 1;
        standing.rank = standing.others;
        return standing;
    }
    standing.number = own->number;
    standing.rank = standing.others == 0 ? 0 : key.records().in_line_before(own->number, k_ranked);
    if (standing.rank == k_ranked) {
        const std::int64_t last_ranked = key.records().number_in_line(k_ranked - 1);
        standing.rank = std::min(standing.others, k_ranked + own->number - last_ranked - 1);
    }
    return standing;
}

Judgement judge(ClockedKey& key, const Standing& standing, const std::optional<Rate>& brought) {
    const Header& header = key.header();
    const std::int64_t now = key.now_us();
    const Rate& rate = brought ? *brought : pause_only_pace();
    const std::int64_t grant = rate.grant().count();
    const bool paused = now < header.paused_until_us;
    Judgement judgement;
    const bool newcomer = standing.number > header.numbers;  // who has waited is paced to the last
    if (!brought && !paused && newcomer && standing.others == 0) {
        const std::int64_t at = std::max(now, header.last_start_us);
        if (at <= now + grant) return {true, {at, 0}, at, at, at};
    }

    const Slot earliest = slot_before(now, std::min(standing.others, k_late_slots) + rate.burst() - 1, rate);
    Slot base = earliest;  // below zero where a store's clock is younger than the burst is long
    if (header.paused_until_us > 0) base = std::max(base, Slot{header.paused_until_us, 0});
    if (const auto last = header.slot_for(rate))
        base = std::max(base, slot_after(*last, header.slot_cost, rate));
    const std::int64_t due = slot_after(base, standing.rank, rate).rounded_up_us();

    std::int64_t opens = 0;  // when the window has room for this start and those ahead
    bool room = true;
    if (brought) {
        const std::int64_t ahead = due_ahead(key, base, standing, rate);
        room = ahead < rate.allow();
        if (room) {
            const auto oldest = StartLog(key.records(), key.header()).start_back(rate.allow() - ahead);
            if (oldest) opens = *oldest + rate.period().count();
        }
    }
    const std::int64_t not_before = std::max(opens, header.last_start_us);
    const std::int64_t at = std::max({now, base.rounded_up_us(), not_before});
    judgement.possible_us = std::max({now, due, not_before, header.paused_until_us});
    if (!paused && room && due <= now + grant && standing.rank < k_ranked && at <= now + grant) {
        judgement.starts = true;
        judgement.slot = base;
        judgement.start_at_us = judgement.possible_us = judgement.ask_again_us = at;
        return judgement;
    }
    std::int64_t until = std::max(due, not_before) - grant;
    // Held up by those ahead alone: they ask soon. In a pause its end is what to wait for.
    if (until <= now && !paused) {
        until = now + std::max(k_shortest_retry_us, std::min(grant, rate.spacing_us()) / 2);
    }
    judgement.ask_again_us = std::max(until, header.paused_until_us);
    return judgement;
}

}  // namespace jobthrottle
