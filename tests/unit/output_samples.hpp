// SPDX-License-Identifier: MIT
// Values that the tests of lib/output share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "core/key.hpp"
#include "core/report.hpp"
#include "output/inspect.hpp"
#include "output/wall_clock.hpp"

namespace jobthrottle::test {

constexpr std::int64_t k_sample_s = 1'794'405'802;  // 2026-11-11 14:03:22 UTC
constexpr WallTime k_sample_time{std::chrono::seconds{k_sample_s}};

inline Key sample_key(std::string bytes) {
    return *Key::make(std::move(bytes));
}

inline Rate sample_rate(std::string_view text) {
    return *parse_rate(text);
}

inline Terms sample_terms(const std::vector<std::string>& rates,
                          std::optional<std::int64_t> concurrency = std::nullopt) {
    std::vector<Rate> parsed;
    for (const auto& rate : rates)
        parsed.push_back(sample_rate(rate));
    return *Terms::make(std::move(parsed), concurrency);
}

inline Holder sample_holder(Duration age, Duration renewed, Duration left, std::string who) {
    Holder holder;
    holder.id = 0xC0FFEE;
    holder.age = age;
    holder.renewed = renewed;
    holder.left = left;
    holder.who = std::move(who);
    return holder;
}

// At 14:01:07 UTC.
inline PauseNote sample_refusal() {
    return {
        "HTTP 429, Retry-After: 1800", "HTTP/2 429", "stdout", "gh", "dev@ci-07:4121", "", k_sample_s - 135};
}
inline PauseNote sample_pause_by_hand() {
    return {"", "", "", "", "dev@box:771", "deploy window", k_sample_s - 135};
}

inline Waiter sample_waiter(std::int64_t number, Duration waited, Duration starts_in, std::string who) {
    Waiter waiter;
    waiter.id = static_cast<TicketId>(number);
    waiter.number = number;
    waiter.waited = waited;
    waiter.starts_in = starts_in;
    waiter.asks_in = std::chrono::seconds{1};
    waiter.who = std::move(who);
    return waiter;
}

// The terms in force, each limit used alike.
inline void put_terms(KeyReport& report, const Terms& terms, std::int64_t starts = 3,
                      std::int64_t remaining = 77) {
    report.terms = terms;
    report.limits.clear();
    for (const Rate& rate : terms.rates())
        report.limits.push_back({rate, starts, remaining});
}

// A key with 80/min: 3 starts in the window, nobody waits.
inline InspectView sample_view() {
    KeyReport report;
    report.known = true;
    put_terms(report, sample_terms({"80/min"}));
    report.started = 8204;
    report.last_start_age_us = 1'500'000;
    return {sample_key("github"), "redis://ci-redis:6379/0", "", report, k_sample_time, 0, {}};
}

// The same with `count` in line, one every 750 ms.
inline InspectView sample_view_with_line(int count) {
    InspectView view = sample_view();
    put_terms(view.report, view.report.terms, 80, 0);
    view.report.available_in = std::chrono::milliseconds{400 + 750 * count};
    for (int i = 0; i < count; ++i) {
        view.report.waiting.push_back(sample_waiter(
            i + 1, std::chrono::milliseconds{20'000 - 700 * i}, std::chrono::milliseconds{400 + 750 * i},
            "deploy#" + std::to_string(4313 + i) + " ci@ci-03:" + std::to_string(991 + i)));
    }
    return view;
}

// Three wait on a key that a provider paused.
inline InspectView paused_view() {
    InspectView view = sample_view_with_line(3);
    view.report.paused_for = std::chrono::seconds{1665};
    view.report.available_in = std::chrono::seconds{1668};
    view.report.note = sample_refusal();
    for (auto& waiter : view.report.waiting)
        waiter.starts_in += std::chrono::seconds{1665};
    return view;
}

inline std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (const auto line : split(text, '\n'))
        lines.emplace_back(line);
    return lines;
}

inline std::string without_colour(std::string text) {
    for (const char* sequence : {"\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"}) {
        for (auto at = text.find(sequence); at != std::string::npos; at = text.find(sequence))
            text.erase(at, std::string_view(sequence).size());
    }
    return text;
}

// Every control character, and bytes that are no UTF-8.
inline std::vector<std::string> troublesome_bytes() {
    std::vector<std::string> all;
    for (int byte = 0; byte < 0x20; ++byte)
        all.emplace_back(1, static_cast<char>(byte));
    for (const int byte : {0x7F, 0x80, 0x9B, 0xC2, 0xFF})
        all.emplace_back(1, static_cast<char>(byte));
    for (int byte = 0x80; byte < 0xA0; ++byte)
        all.push_back({static_cast<char>(0xC2), static_cast<char>(byte)});
    all.emplace_back("\x1b[31m");
    all.emplace_back("\xed\xa0\x80");
    return all;
}

// Valid UTF-8 without control characters.
inline bool is_clean_line(std::string_view text) {
    if (!is_valid_utf8(text)) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte < 0x20 || byte == 0x7F) return false;
        if (byte == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0) return false;
    }
    return true;
}

}  // namespace jobthrottle::test
