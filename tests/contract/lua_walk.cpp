// SPDX-License-Identifier: MIT
#include "lua_walk.hpp"

#include <algorithm>

namespace jobthrottle::test {

namespace {

using namespace std::chrono_literals;

Rate rate(std::int64_t allow, Duration period, std::int64_t burst = 1) {
    return *Rate::make(allow, period, burst);
}

const std::vector<Rate>& rates() {
    static const std::vector<Rate> all = {
        rate(1, 1s),           rate(7, 1s),        rate(10, 90s),         rate(5000, 1h),
        rate(1'000'000, 1s),   rate(8, 1s, 3),     rate(3'000'000, 1min), rate(10'000, 24h, 500),
        rate(2044, 1min),      rate(2045, 1min),   rate(60, 1min, 60),    rate(3, 1ms),
        rate(1, 24h * 366),    rate(20, 1s, 20),   rate(100, 1s, 7),      rate(9, 1s),
        rate(31'622'400, 24h), rate(600, 1min, 2), rate(13, 10s),         rate(1'000'000, 24h * 366, 900'000),
        rate(30, 1min),        rate(100, 1min),    rate(12'345, 1h),      *rate(5, 2s).with_burst(1)};
    return all;
}

}  // namespace

LuaWalk::LuaWalk(Pair& pair, std::uint64_t seed) : m_pair(pair), m_random(seed) {
    for (const char* name : {"a", "b", "c"})
        m_keys.push_back(*Key::make("walk " + std::to_string(seed) + name));
    m_pause_only = chance(8);
    m_quick = chance(30);
    m_costly = chance(30);
    m_successes = chance(15);
    m_together = chance(50) ? 0 : 40;
    for (std::size_t i = 0; i < m_keys.size(); ++i) {
        const Terms usual = some_terms(), other = some_terms();
        m_terms.push_back({usual, usual, usual, usual, other});
    }
}

Duration LuaWalk::up_to(Duration d) {
    return Duration{static_cast<std::int64_t>(below(static_cast<std::uint64_t>(d.count()) + 1))};
}

Terms LuaWalk::some_terms() {
    std::vector<Rate> wanted;
    const std::size_t count = chance(50) ? 1 : below(5);
    while (wanted.size() < count) {
        const Rate next = rates()[below(rates().size())];
        const bool there = std::any_of(wanted.begin(), wanted.end(),
                                       [&](const Rate& one) { return one.period() == next.period(); });
        if (!there) wanted.push_back(next);
    }
    std::optional<std::int64_t> concurrency;
    if (count == 0 || chance(40)) concurrency = 1 + static_cast<std::int64_t>(below(chance(80) ? 4 : 40));
    return Terms::make(std::move(wanted), concurrency).value();
}

std::string LuaWalk::step() {
    move_clock();
    const auto draw = below(100);
    return draw < 75 ? line_step(draw) : lease_step(draw);
}

std::string LuaWalk::line_step(std::uint64_t draw) {
    if (draw < 22) return arrive();
    if (draw < 53) return come_back();
    if (draw < 57) return leave(chance(50));
    if (draw < 59) return pause();
    if (draw < 61) {
        m_what = "resume";
        return m_pair.resume(some_key());
    }
    if (draw < 66) return repeat();
    if (draw < 68) return set_registration();
    if (draw < 69) {
        m_what = "forgetting";
        return chance(30) ? m_pair.forget(some_key(), chance(50)) : std::string{};
    }
    if (draw < 71) {
        m_what = "inspection";
        return m_pair.inspect(some_key());
    }
    return look();
}

std::string LuaWalk::lease_step(std::uint64_t draw) {
    if (m_started.empty() || draw == 99) {
        m_what = "release of all";
        return chance(20) ? m_pair.release_leases(some_key(), chance(70)) : arrive();
    }
    if (draw < 81) return renew(m_started[some_started()]);
    if (draw < 92) return release(some_started());
    if (draw < 96) return settle(m_started[some_started()]);
    return chance(50) ? give_back(some_started()) : renew(m_started[some_started()]);
}

void LuaWalk::move_clock() {
    const Terms& terms = m_terms[0][0];
    const Rate pace = terms.rates().empty() ? rates()[0] : terms.rates().front();
    const Duration spacing{pace.spacing_us() + 1};
    const auto draw = below(m_quick ? 110 : 1000);
    // Never to 2^52 us, the end of time, however long the periods are.
    if (draw < 60 || m_pair.now() > instant_us(k_far_us)) return;
    if (draw < 110) return m_pair.advance(up_to(m_quick ? 20us : 2ms));
    if (draw < 500 && !m_waiting.empty()) return move_to(any_of(m_waiting).told);
    if (draw < 800) return m_pair.advance(up_to(3 * spacing));
    if (draw < 880) return m_pair.advance(up_to(1s));
    if (draw < 900) return m_pair.advance(std::min<Duration>(up_to(pace.period()), 24h * 30));
    if (draw < 940) return m_pair.advance(up_to(70s));
    if (draw < 965) return m_pair.advance(up_to(20min));
    if (draw < 975) return m_pair.advance(1h);
    if (draw < 985) return m_pair.advance(-1h);
    if (draw < 993) return m_pair.advance(-up_to(1s));
    m_pair.advance(2 * pace.period() + up_to(1h));
}

void LuaWalk::move_to(Instant told) {
    Duration by = told - m_pair.now();
    if (by < Duration::zero() || by > 24h * 400) by = Duration::zero();
    if (chance(40)) by += up_to(90ms);
    if (chance(10)) by += 100ms + Duration{static_cast<std::int64_t>(below(3)) - 1};
    if (chance(8)) by += up_to(2s);
    m_pair.advance(by);
}

std::int64_t LuaWalk::cost() {
    if (!m_costly || chance(40)) return 1;
    return 1 + static_cast<std::int64_t>(below(chance(90) ? 5 : 3000));
}

std::vector<Key> LuaWalk::some_keys() {
    if (!chance(m_together)) return {some_key()};
    auto keys = m_keys;
    std::shuffle(keys.begin(), keys.end(), m_random);
    keys.resize(2 + below(2), keys.front());
    return keys;
}

Question LuaWalk::question(const Key& key) {
    Question q;
    const auto at = static_cast<std::size_t>(std::find(m_keys.begin(), m_keys.end(), key) - m_keys.begin());
    if (m_pause_only && chance(90)) {
        q.pause_only = true;
    } else if (chance(97)) {
        q.terms = any_of(m_terms[at]);
    }
    q.cost = cost();
    q.count_successes = m_successes && chance(90);
    q.settles = chance(m_costly ? 50 : 3);
    q.lock_for = chance(50) ? Duration{60s} : 1ms + up_to(3s);
    q.override_registered = chance(10);
    return q;
}

std::vector<Asked> LuaWalk::question() {
    Question common;
    common.id = m_random();
    common.place = m_random() >> (chance(20) ? 0U : 1U);
    common.caller = chance(15);
    common.keep = chance(80) ? (common.caller ? k_caller_keep : k_runner_keep) : up_to(5s);
    common.who =
        std::string(below(chance(5) ? 300 : 20), 'w') + std::string(1, static_cast<char>(below(256)));
    if (chance(10)) common.taking = Taking::start;
    if (chance(5)) common.max_waiting = static_cast<std::int64_t>(below(4));
    if (chance(3) && !m_started.empty())
        common.ancestors = {m_random(), any_of(m_started).asked.front().question.id};
    std::vector<Asked> asked;
    for (const Key& key : some_keys()) {
        Question q = question(key);
        q.id = common.id;
        q.place = common.place;
        q.caller = common.caller;
        q.keep = common.keep;
        q.who = common.who;
        q.taking = common.taking;
        q.max_waiting = common.max_waiting;
        q.ancestors = common.ancestors;
        asked.push_back({key, q});
    }
    if (asked.size() == 1 && chance(5)) asked.front().question.hold = true;
    return asked;
}

std::string LuaWalk::put(Job& job, bool& waits) {
    std::vector<Answer> answers;
    auto difference = m_pair.ask(job.asked, answers);
    job.told = m_pair.now() + answers.front().wait;
    job.number = answers.front().number;
    const Question& first = job.asked.front().question;
    waits = answers.front().kind == AnswerKind::wait && first.taking == Taking::place;
    if (answers.front().kind == AnswerKind::start) m_started.push_back(job);
    return difference;
}

std::string LuaWalk::arrive() {
    m_what = "arrival";
    Job job{question(), {}, 0};
    bool waits = false;
    auto difference = put(job, waits);
    if (waits) m_waiting.push_back(std::move(job));
    return difference;
}

std::string LuaWalk::come_back() {
    if (m_waiting.empty()) return arrive();
    m_what = "return";
    const auto at = below(m_waiting.size());
    Job& job = m_waiting[at];
    const bool fresh = chance(50), anew = chance(10);
    const StartId id = m_random();
    for (auto& one : job.asked) {
        one.question.fresh = fresh;
        one.question.hold = false;
        if (anew) one.question.id = id;
    }
    bool waits = false;
    auto difference = put(job, waits);
    if (!waits) m_waiting.erase(m_waiting.begin() + static_cast<std::ptrdiff_t>(at));
    return difference;
}

std::string LuaWalk::leave(bool gives_back) {
    m_what = "leaving";
    const TicketId nobody = m_random();
    if (m_waiting.empty()) return m_pair.cancel(some_key(), nobody);
    const auto at = below(m_waiting.size());
    const Job job = m_waiting[at];
    m_waiting.erase(m_waiting.begin() + static_cast<std::ptrdiff_t>(at));
    std::string difference;
    for (const auto& one : job.asked) {
        if (gives_back) difference += m_pair.cancel(one.key, one.question.place);
    }
    return difference;
}

std::string LuaWalk::pause() {
    m_what = "pause";
    PauseRequest request;
    request.length = 1s + up_to(chance(10) ? 24h : 20s);
    request.forever = chance(5);
    request.by_hand = chance(30);
    if (chance(80)) request.note = "note " + std::to_string(below(1000));
    return m_pair.pause(some_key(), request);
}

std::string LuaWalk::repeat() {
    if (m_started.empty()) return arrive();
    m_what = "repeated question";
    Job& started = m_started[some_started()];
    Job job = started;
    for (auto& one : job.asked)
        one.question.fresh = false;
    std::vector<Answer> answers;
    auto difference = m_pair.ask(job.asked, answers);
    started.number = answers.front().number;
    return difference;
}

std::string LuaWalk::set_registration() {
    m_what = "registration";
    const std::size_t key = below(m_keys.size());
    if (chance(60)) return m_pair.set_registration(m_keys[key], std::nullopt);
    const Terms wanted = chance(50) ? any_of(m_terms[key]) : some_terms();
    return m_pair.set_registration(m_keys[key], Registration{wanted, 1'700'000'000, "ops@box"});
}

std::string LuaWalk::look() {
    m_what = "peek";
    auto asked = m_waiting.empty() || chance(50) ? question() : any_of(m_waiting).asked;
    for (auto& one : asked)
        one.question.taking = Taking::nothing;
    std::vector<Answer> answers;
    return m_pair.ask(asked, answers);
}

std::size_t LuaWalk::some_started() {
    return m_started.size() - 1 - below(std::min<std::size_t>(m_started.size(), chance(80) ? 6 : 40));
}

std::string LuaWalk::renew(const Job& job) {
    m_what = "renewal";
    const Asked& one = job.asked[below(job.asked.size())];
    Renewal renewal;
    renewal.id = one.question.id;
    if (chance(30)) renewal.lock_for = up_to(60s);
    // As when the state that the lease was taken in is lost.
    if (chance(30)) {
        renewal.lock_for = 1s + up_to(60s);
        renewal.concurrency = 1 + static_cast<std::int64_t>(chance(50));
        renewal.who = one.question.who;
    }
    return m_pair.renew(one.key, renewal);
}

std::string LuaWalk::release(std::size_t job) {
    m_what = "release";
    const auto asked = m_started[job].asked;
    std::string difference;
    for (const auto& one : asked) {
        const bool gives_back = chance(one.question.count_successes ? 60 : 10);
        difference += m_pair.release(one.key, {one.question.id, gives_back});
    }
    return difference;
}

std::string LuaWalk::settle(const Job& job) {
    m_what = "settlement";
    const Asked& one = job.asked[below(job.asked.size())];
    const auto true_cost = static_cast<std::int64_t>(below(chance(90)   ? 8
                                                           : chance(50) ? 5000
                                                                        : 1'000'000'001));
    return m_pair.settle(one.key, {one.question.id, true_cost});
}

std::string LuaWalk::give_back(std::size_t job) {
    m_what = "giving back";
    const Asked& one = m_started[job].asked.front();
    GiveBack given;
    given.id = one.question.id;
    given.cost = one.question.cost;
    given.place = one.question.place;
    given.number = m_started[job].number;
    given.waited = up_to(1s);
    given.who = one.question.who;
    return m_pair.give_back(one.key, given);
}

}  // namespace jobthrottle::test
