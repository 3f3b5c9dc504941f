// SPDX-License-Identifier: MIT
#include "lua_compare_support.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "base/text.hpp"
#include "store/redis/key_names.hpp"
#include "store/redis/packed_records.hpp"

namespace jobthrottle::test {

namespace {

using Map = std::map<std::string, std::string>;

std::string little_endian(std::int64_t value, int bytes) {
    auto bits = static_cast<std::uint64_t>(value);
    std::string out;
    for (int i = 0; i < bytes; ++i, bits >>= 8)
        out += static_cast<char>(bits & 0xFF);
    return out;
}

std::string hex(std::string_view bytes) {
    static constexpr char k_digits[] = "0123456789abcdef";
    std::string out;
    for (const char c : bytes) {
        out += k_digits[static_cast<unsigned char>(c) >> 4];
        out += k_digits[static_cast<unsigned char>(c) & 15];
    }
    return out;
}

std::string text_of(const std::optional<Rate>& rate) {
    return rate ? rate->text() : "none";
}

std::string text_of(const Map& map) {
    std::string out;
    for (const auto& [key, value] : map)
        out += "\n  " + hex(key) + " " + hex(value);
    return out;
}

// Header fields, one a line. The expiry is Redis's own affair.
std::string text_of(const Header& header) {
    std::string out;
    for (const std::int64_t field : fields_of(header))
        out += std::to_string(field) + "\n";
    return out;
}

std::string text_of(const KeyReport& report) {
    std::string out = std::to_string(report.known) + " " + text_of(report.rate) + " " +
                      std::to_string(report.starts_in_window) + " " + std::to_string(report.remaining) + " " +
                      std::to_string(report.available_in.count()) + " " +
                      std::to_string(report.paused_for.count()) + " " +
                      std::to_string(report.paused_by_hand) + " " + std::to_string(report.last_start_age_us) +
                      " " + std::to_string(report.started);
    for (const auto& waiter : report.waiting) {
        out += "\n" + std::to_string(waiter.id) + " " + std::to_string(static_cast<int>(waiter.place)) + " " +
               std::to_string(waiter.number) + " " + std::to_string(waiter.waited.count()) + " " +
               std::to_string(waiter.starts_in.count()) + " " + std::to_string(waiter.asks_in.count()) + " " +
               hex(waiter.who);
    }
    return out;
}

std::string differ(const std::string& what, const std::string& memory, const std::string& redis) {
    if (memory == redis) return {};
    return what + " differs\nmemory: " + memory + "\nredis:  " + redis + "\n";
}

Map map_of(const Reply& reply) {
    Map map;
    for (std::size_t i = 0; i + 1 < reply.items.size(); i += 2)
        map[reply.items[i].text] = reply.items[i + 1].text;
    return map;
}

std::string packed(const Ticket& ticket) {
    return little_endian(static_cast<int>(ticket.place), 1) + little_endian(ticket.caller ? 1 : 0, 1) +
           little_endian(ticket.number, 8) + little_endian(ticket.told_us, 8) +
           little_endian(ticket.keep.count(), 8) + little_endian(ticket.since_us, 8) + ticket.who;
}

std::string log_bytes(const MemoryRecords& records) {
    const auto header = records.header();
    std::string out;
    const auto kept = std::min(header->log_total, header->log_capacity);
    for (std::int64_t i = 0; i < kept; ++i)
        out += little_endian(records.log_entry(i), 6);
    return out;
}

std::string recent_bytes(const MemoryRecords& records) {
    std::string out;
    for (const auto& start : records.recent())
        out += pack_id(start.id) + little_endian(start.short_us, 6);
    return out;
}

std::string state_difference(const MemoryRecords& records, const std::string& state) {
    const auto expected = records.header();
    if (!expected) return differ("the state", "", hex(state));
    auto found = decode_header(state);
    if (!found) return differ("the state", "there", hex(state));
    found->idle_until_us = 0;
    if (auto d = differ("the header", text_of(*expected), text_of(*found)); !d.empty()) return d;
    const std::string log = log_bytes(records);
    return differ("the log", hex(log), hex(std::string_view(state).substr(Header::k_bytes, log.size())));
}

std::string tickets_difference(const MemoryRecords& records, const std::vector<Reply>& replies) {
    Map tickets, line, due;
    for (const auto& [id, ticket] : records.tickets()) {
        tickets[pack_id(id)] = packed(ticket);
        due[pack_id(id)] = std::to_string(ticket.deadline_us());
        if (ticket.place == Place::in_line) line[pack_id(id)] = std::to_string(ticket.number);
        if (ticket.place == Place::away) {
            line[pack_id(id)] = std::to_string(ticket.number + (std::int64_t{1} << 50));
        }
    }
    return differ("tickets", text_of(tickets), text_of(map_of(replies[2]))) +
           differ("line", text_of(line), text_of(map_of(replies[3]))) +
           differ("due", text_of(due), text_of(map_of(replies[4])));
}

// -2: not there; -1: no expiry, which is right for what is registered and in a pause for ever.
std::string expiry_fault(const MemoryRecords& records, const std::vector<Reply>& replies) {
    const auto header = records.header();
    const bool forever = header && header->matters_until_us() >= k_forever_us;
    for (std::size_t i = 0; i < 7; ++i) {
        const std::int64_t left_ms = replies[7 + i].integer;
        if (i == 5 || left_ms == -2 || left_ms > 0) continue;
        if (!forever || left_ms != -1) return "record " + std::to_string(i) + " has no expiry\n";
    }
    return {};
}

template <typename T>
T sure(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().message);
    return std::move(result).value();
}

}  // namespace

std::string text_of(const Answer& a) {
    std::string out = "kind " + std::to_string(static_cast<int>(a.kind)) + " why " +
                      std::to_string(static_cast<int>(a.why));
    for (const std::int64_t number : {a.wait.count(), a.earliest.count(), a.ahead, a.number, a.waited.count(),
                                      a.birth_us, a.paused_for.count()}) {
        out += " " + std::to_string(number);
    }
    return out + (a.paused_by_hand ? " by hand " : " ") + text_of(a.rate) + " " + text_of(a.registered) +
           " " + text_of(a.other_rate);
}

std::string text_of(const PauseAnswer& a) {
    return std::to_string(a.left.count()) + (a.forever ? " for ever" : "") + (a.changed ? " changed" : "");
}

Pair::Pair()
    : m_connection({sure(parse_redis_url(m_server.socket_url())), std::chrono::seconds{20},
                    std::chrono::seconds{20}}) {
    jobthrottle::RedisOptions options;
    options.url = sure(parse_redis_url(m_server.socket_url()));
    options.connect_timeout = options.command_timeout = std::chrono::seconds{20};
    options.clock_us = [this] { return to_us(m_memory.clock()); };
    m_redis = make_redis_store(options);
}

std::string Pair::difference(const Key& key) {
    const auto names = record_names("jobthrottle", key);
    std::vector<Command> commands = {{"GET", names[0]},
                                     {"GET", names[1]},
                                     {"HGETALL", names[2]},
                                     {"ZRANGE", names[3], "0", "-1", "WITHSCORES"},
                                     {"ZRANGE", names[4], "0", "-1", "WITHSCORES"},
                                     {"GET", names[5]},
                                     {"GET", names[6]}};
    for (const auto& name : names)
        commands.push_back({"PTTL", name});
    const auto replies =
        sure(m_connection.run(commands, {BootClock::now() + std::chrono::seconds{20}, -1, {}}));
    const MemoryRecords& records = m_memory.records(key);
    const auto registered = records.registration();
    return state_difference(records, replies[0].text) +
           differ("recent", hex(recent_bytes(records)), hex(replies[1].text)) +
           tickets_difference(records, replies) +
           differ("registered", registered ? encode(*registered) : "", replies[5].text) +
           differ("note", records.pause_note(), replies[6].text) + expiry_fault(records, replies);
}

std::string Pair::ask_only(const Key& key, const Question& question, Answer& answer) {
    answer = sure(m_memory.ask(key, question));
    return differ("the answer", text_of(answer), text_of(sure(m_redis->ask(key, question))));
}

std::string Pair::ask(const Key& key, const Question& question, Answer& answer) {
    return ask_only(key, question, answer) + difference(key);
}

std::string Pair::cancel(const Key& key, TicketId id) {
    if (!m_memory.cancel(key, id) || !m_redis->cancel(key, id)) return "cancel failed";
    return difference(key);
}

std::string Pair::pause(const Key& key, const PauseRequest& request) {
    const auto memory = sure(m_memory.pause(key, request)), redis = sure(m_redis->pause(key, request));
    return differ("the pause", text_of(memory), text_of(redis)) + difference(key);
}

std::string Pair::resume(const Key& key) {
    const auto memory = sure(m_memory.resume(key)), redis = sure(m_redis->resume(key));
    return differ("the resume", text_of(memory), text_of(redis)) + difference(key);
}

std::string Pair::set_registration(const Key& key, const std::optional<Registration>& wanted) {
    const auto memory = sure(m_memory.set_registration(key, wanted));
    const auto redis = sure(m_redis->set_registration(key, wanted));
    return differ("the registration before", memory ? encode(*memory) : "", redis ? encode(*redis) : "") +
           difference(key);
}

std::string Pair::forget(const Key& key) {
    const auto memory = sure(m_memory.forget(key, true)), redis = sure(m_redis->forget(key, true));
    return differ("known", std::to_string(memory.known), std::to_string(redis.known)) +
           differ("forgotten", std::to_string(memory.forgotten), std::to_string(redis.forgotten)) +
           differ("who waited", std::to_string(memory.waiting.size()), std::to_string(redis.waiting.size())) +
           difference(key);
}

std::string Pair::inspect(const Key& key) {
    const auto memory = sure(m_memory.inspect(key)), redis = sure(m_redis->inspect(key));
    return differ("the report", text_of(memory), text_of(redis)) + difference(key);
}

}  // namespace jobthrottle::test
