// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/decide.hpp"

namespace jobthrottle::testing {

// A second, slow reading of the rule: plain lists, everything counted anew at every question, nothing shared
// with the decision but its vocabulary. For limits of at most 2,044 starts.
class SlowKey {
public:
    explicit SlowKey(std::int64_t come_back_us) : m_come_back_us(come_back_us) {}

    // Of the answer only kind, wait, earliest, ahead, number and birth are filled in.
    Answer ask(std::int64_t store_now_us, const Question&);
    bool cancel(std::int64_t store_now_us, TicketId);
    void pause(std::int64_t store_now_us, std::int64_t length_us);  // negative: for ever
    void resume(std::int64_t store_now_us);

private:
    struct Waiter {
        TicketId id = 0;
        std::int64_t number = 0, told = 0, keep = 0;
        Place place = Place::in_line;
        bool caller = false;
    };
    // whole + part / n microseconds
    struct Exact {
        std::int64_t whole = 0, part = 0;
    };
    struct View;  // how things stand for one asker

    std::int64_t open(std::int64_t store_now_us);
    void sweep();
    Waiter* find(TicketId);
    void leave(TicketId);
    static Exact steps(const Rate&, const Exact&, std::int64_t count);
    static std::int64_t rounded_up(const Exact&);
    View stand(TicketId) const;
    Exact earliest_slot(const Rate&, std::int64_t others) const;
    std::optional<std::int64_t> window_opens(const Rate&, const View&) const;
    bool recovers(const View&) const;
    View look(const Rate&, bool paced_only, TicketId) const;
    Answer wait_in_line(const Question&, const Rate&, const View&, Answer);

    std::int64_t m_come_back_us;
    bool m_known = false;
    std::int64_t m_offset = 0, m_now = 0, m_birth = 0;
    Exact m_slot;
    std::int64_t m_slot_n = 0;  // 0: no slot yet
    std::vector<std::int64_t> m_log;
    std::size_t m_log_room = 0;
    std::int64_t m_last_start = 0, m_paused_until = 0, m_count = 0, m_paced = 0;
    std::int64_t m_starts_until = 0, m_tickets_until = 0;
    std::vector<Waiter> m_waiters;
    std::vector<std::pair<StartId, std::int64_t>> m_recent;
};

}  // namespace jobthrottle::testing
