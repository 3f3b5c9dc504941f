// SPDX-License-Identifier: MIT
#include <array>
#include <tuple>

#include "base/text.hpp"
#include "store/redis/script_calls.hpp"

namespace jobthrottle {

namespace {

bool is_text(const Reply& reply) {
    return reply.kind == Reply::Kind::text;
}

bool is_flag(std::int64_t number) {
    return number == 0 || number == 1;
}

// The whole numbers of a reply after its first item.
template <std::size_t k_count>
std::optional<std::array<std::int64_t, k_count>> numbers_of(const Reply& reply) {
    if (reply.items.size() != k_count + 1) return std::nullopt;
    std::array<std::int64_t, k_count> numbers{};
    for (std::size_t i = 0; i < k_count; ++i) {
        if (reply.items[i + 1].kind != Reply::Kind::integer) return std::nullopt;
        numbers[i] = reply.items[i + 1].integer;
    }
    return numbers;
}

// The whole numbers of a list, one after the other; once one is missing, all after it are.
class Numbers {
public:
    explicit Numbers(const Reply& list) : m_items(list.items) {}

    std::int64_t next() {
        m_good = m_good && m_at < m_items.size() && m_items[m_at].kind == Reply::Kind::integer;
        return m_good ? m_items[m_at++].integer : 0;
    }
    bool next_flag() {
        const std::int64_t number = next();
        m_good = m_good && is_flag(number);
        return number != 0;
    }
    template <typename Enum>
    Enum next_enum(Enum last) {
        const std::int64_t number = next();
        m_good = m_good && number >= 0 && number <= static_cast<std::int64_t>(last);
        return m_good ? static_cast<Enum>(number) : last;
    }
    // Concurrency (0: none), how many rates (-1: no terms at all), then the four numbers of each.
    std::optional<Terms> next_terms();

    bool all_read() const { return m_good && m_at == m_items.size(); }

private:
    const std::vector<Reply>& m_items;
    std::size_t m_at = 0;
    bool m_good = true;
};

std::optional<Terms> Numbers::next_terms() {
    const std::int64_t at_once = next();
    const std::int64_t count = next();
    if (count < 0) return std::nullopt;
    std::vector<Rate> rates;
    for (std::int64_t i = 0; i < count && m_good; ++i) {
        const std::int64_t allow = next(), period_us = next(), burst = next(), window_burst = next();
        const auto rate = Rate::restore(allow, period_us, burst, window_burst);
        if (rate) rates.push_back(*rate);
        m_good = m_good && rate;
    }
    auto terms = Terms::make(std::move(rates), at_once > 0 ? std::optional{at_once} : std::nullopt);
    m_good = m_good && terms;
    if (!m_good) return std::nullopt;
    return std::move(*terms);
}

std::optional<Answer> answer_of(const Reply& reply) {
    Numbers numbers(reply);
    Answer answer;
    answer.kind = numbers.next_enum(AnswerKind::crowded);
    answer.wait = Duration{numbers.next()};
    answer.earliest = Duration{numbers.next()};
    answer.why = numbers.next_enum(WaitCause::lease);
    answer.ahead = numbers.next();
    answer.number = numbers.next();
    answer.waited = Duration{numbers.next()};
    answer.birth_us = numbers.next();
    answer.paused_for = Duration{numbers.next()};
    answer.paused_by_hand = numbers.next_flag();
    answer.leased = numbers.next_flag();
    answer.wake = numbers.next();
    answer.places = numbers.next();
    answer.waiting = numbers.next();
    answer.terms = numbers.next_terms().value_or(Terms{});
    answer.registered = numbers.next_terms();
    answer.other = numbers.next_terms();
    if (!numbers.all_read()) return std::nullopt;
    return answer;
}

}  // namespace

Error records_error(RecordsProblem problem, const Key& key, const std::string& prefix) {
    if (problem == RecordsProblem::newer) {
        return refused_error("the state of key '" + key.shown() + "' was written by a newer jobthrottle");
    }
    return refused_error("what is stored for key '" + key.shown() +
                         "' is not of jobthrottle; another application uses the prefix '" +
                         escape_for_display(prefix) + "', so choose another --prefix");
}

std::optional<Error> fault_of(const Reply& reply, const std::vector<const Key*>& keys,
                              const ScriptSetting& setting) {
    const std::string status =
        reply.kind == Reply::Kind::list && !reply.items.empty() ? reply.items[0].text : "";
    if (status == "ok") return std::nullopt;
    if (status == "no database") {
        return refused_error("it has no database " + std::to_string(setting.database) +
                             ", or this user may not select it");
    }
    const std::int64_t which = reply.items.size() > 1 ? reply.items[1].integer : 0;
    const bool known = which >= 1 && which <= static_cast<std::int64_t>(keys.size());
    if (known && (status == "newer" || status == "foreign")) {
        return records_error(status == "newer" ? RecordsProblem::newer : RecordsProblem::foreign,
                             *keys[static_cast<std::size_t>(which - 1)], setting.prefix);
    }
    return refused_error("its answer is not understood");
}

std::optional<std::vector<Answer>> answers_of(const Reply& reply, std::size_t count) {
    if (reply.items.size() != count + 1) return std::nullopt;
    std::vector<Answer> answers;
    for (std::size_t i = 1; i <= count; ++i) {
        auto answer = answer_of(reply.items[i]);
        if (!answer) return std::nullopt;
        answers.push_back(std::move(*answer));
    }
    return answers;
}

std::optional<LeaseAnswer> lease_answer_of(const Reply& reply) {
    const auto numbers = numbers_of<2>(reply);
    if (!numbers || (*numbers)[0] < 0 || (*numbers)[0] > static_cast<int>(LeaseState::unknown))
        return std::nullopt;
    return LeaseAnswer{static_cast<LeaseState>((*numbers)[0]), Duration{(*numbers)[1]}};
}

std::optional<SettleAnswer> settle_answer_of(const Reply& reply) {
    const auto numbers = numbers_of<2>(reply);
    if (!numbers || (*numbers)[0] < 0 || (*numbers)[0] > static_cast<int>(LeaseState::unknown))
        return std::nullopt;
    return SettleAnswer{static_cast<LeaseState>((*numbers)[0]), (*numbers)[1]};
}

std::optional<std::vector<Holder>> released_of(const Reply& reply) {
    if (reply.items.size() != 3 || reply.items[1].kind != Reply::Kind::integer) return std::nullopt;
    const auto& leases = reply.items[2].items;
    std::vector<Holder> released;
    for (std::size_t i = 0; i + 1 < leases.size(); i += 2) {
        const auto id = unpack_lease_id(leases[i].text);
        const auto lease = unpack_lease(leases[i + 1].text);
        if (id && lease) released.push_back(holder_of(*id, *lease, reply.items[1].integer));
    }
    return released;
}

std::optional<PauseAnswer> pause_answer_of(const Reply& reply) {
    const auto numbers = numbers_of<3>(reply);
    if (!numbers) return std::nullopt;
    return PauseAnswer{Duration{(*numbers)[0]}, (*numbers)[1] != 0, (*numbers)[2] != 0};
}

std::optional<bool> flag_of(const Reply& reply) {
    const auto numbers = numbers_of<1>(reply);
    if (!numbers) return std::nullopt;
    return (*numbers)[0] != 0;
}

std::optional<std::string> registered_before(const Reply& reply) {
    if (reply.items.size() != 2 || !is_text(reply.items[1])) return std::nullopt;
    return reply.items[1].text;
}

std::optional<Inspected> inspected_of(const Reply& reply) {
    constexpr std::size_t k_first_log = 6;
    if (reply.items.size() != k_first_log + std::tuple_size<decltype(PackedRecords::logs)>::value)
        return std::nullopt;
    const Reply &clock = reply.items[1], &tickets = reply.items[3];
    if (clock.kind != Reply::Kind::integer || tickets.kind != Reply::Kind::list) return std::nullopt;
    for (std::size_t i = 2; i < reply.items.size(); ++i) {
        if (i != 3 && !is_text(reply.items[i])) return std::nullopt;
    }
    Inspected inspected;
    PackedRecords& records = inspected.records;
    inspected.now_us = clock.integer;
    records.state = reply.items[2].text;
    records.registered = reply.items[4].text;
    records.note = reply.items[5].text;
    for (std::size_t log = 0; log < records.logs.size(); ++log)
        records.logs[log] = reply.items[k_first_log + log].text;
    for (std::size_t i = 0; i + 1 < tickets.items.size(); i += 2)
        records.tickets.emplace_back(tickets.items[i].text, tickets.items[i + 1].text);
    return inspected;
}

}  // namespace jobthrottle
