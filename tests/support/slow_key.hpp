// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/attempts.hpp"
#include "core/decide.hpp"

namespace jobthrottle::testing {

// A second, slow reading of the rule: plain lists, everything counted anew at every question, nothing shared
// with the decision but its vocabulary. For limits of at most 2,044 starts and one key.
//
// How long one sleeps who waits for a lease is a matter of estimates: that time it takes as it was told.
class SlowKey {
public:
    explicit SlowKey(std::int64_t come_back_us) : m_come_back_us(come_back_us) {}
    // What is known of the holder of a lease, by its `who`.
    void know_life(std::function<HolderLife(const std::string&)> life) { m_life = std::move(life); }

    // Of the answer kind, wait, earliest, ahead, number, birth, leased, wake, places and waiting are filled
    // in.
    Answer ask(std::int64_t store_now_us, const Question&, Duration told_for_a_lease);
    bool cancel(std::int64_t store_now_us, TicketId);
    void pause(std::int64_t store_now_us, std::int64_t length_us);  // negative: for ever
    void resume(std::int64_t store_now_us);
    LeaseState renew(std::int64_t store_now_us, LeaseId, std::int64_t lock_for_us);
    LeaseState release(std::int64_t store_now_us, LeaseId, bool give_back);
    LeaseState settle(std::int64_t store_now_us, LeaseId, std::int64_t cost);

    std::vector<TicketId> woken() { return std::exchange(m_woken, {}); }

private:
    struct Waiter {
        TicketId id = 0;
        std::int64_t number = 0, told = 0, keep = 0, cost = 1, wake = 0;
        Place place = Place::in_line;
        bool caller = false, offered = false;
        std::int64_t deadline() const;
    };
    struct Held {
        LeaseId id = 0;
        bool held = true, place = true, open = false;
        std::int64_t cost = 1, at = 0, until = 0, length = 0;
        std::string who;
        std::int64_t deadline() const;
    };
    // whole + part / n microseconds
    struct Exact {
        std::int64_t whole = 0, part = 0;
    };
    struct Slots {
        Exact slot;
        std::int64_t n = 0, cost = 0;  // n = 0: no slot yet
    };
    struct Windows {
        bool room = true;
        std::int64_t open = 0;
    };
    struct View;  // how things stand for one asker

    void open(std::int64_t store_now_us);
    void close();
    std::int64_t idle_after() const;
    void sweep();
    void keep_the_living();
    bool drop_the_dead();

    Waiter* find(TicketId);
    void put(const Waiter&);
    void leave(TicketId);
    std::vector<const Waiter*> line() const;
    bool is_awake(const Waiter&) const;
    bool offer();

    Held* find_lease(LeaseId);
    void put_lease(const Held&);
    void end_lease(LeaseId);
    std::int64_t places() const;
    std::int64_t open_attempts() const;
    void charge(std::int64_t at, std::int64_t by);
    void charge_log(std::int64_t at, std::int64_t by);

    static Exact steps(const Rate&, const Exact&, std::int64_t count);
    static std::int64_t rounded_up(const Exact&);
    View stand(const Question&) const;
    void add_costs(View&, const std::vector<const Waiter*>& ahead) const;
    bool recovers(const View&) const;
    Exact earliest_slot(const Rate&, std::size_t row, std::int64_t others) const;
    Windows look_at_windows(const std::vector<Rate>&, const View&, bool successes) const;
    bool has_place(const View&, const Terms&) const;
    View look(const Question&, const Terms&) const;
    void judge(const Question&, Duration told_for_a_lease, Answer&);
    void start(const Question&, const Terms&, const View&);
    void wait_in_line(const Question&, const Terms&, const View&, Duration told_for_a_lease, Answer&);
    void note_terms(const Terms&);

    std::int64_t m_come_back_us;
    std::function<HolderLife(const std::string&)> m_life;
    bool m_known = false, m_room = false;
    std::int64_t m_offset = 0, m_now = 0, m_birth = 0;
    Slots m_slots[4];
    std::vector<std::int64_t> m_log;
    std::size_t m_log_room = 0;
    std::int64_t m_last_start = 0, m_paused_until = 0, m_count = 0, m_paced = 0;
    std::int64_t m_starts_until = 0, m_tickets_until = 0, m_leases_until = 0;
    std::vector<Rate> m_last_rates;
    std::int64_t m_last_at_once = 0;
    std::vector<Waiter> m_waiters;
    std::vector<Held> m_leases;
    std::vector<std::pair<StartId, std::int64_t>> m_recent;
    std::vector<TicketId> m_woken;
};

}  // namespace jobthrottle::testing
