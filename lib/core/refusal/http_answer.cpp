// SPDX-License-Identifier: MIT
#include "core/refusal/http_answer.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "core/refusal/cursor.hpp"
#include "core/refusal/http_date.hpp"
#include "core/refusal/retry_after.hpp"

namespace jobthrottle {

namespace {

constexpr std::string_view k_retry_after = "Retry-After";
constexpr std::string_view k_remaining = "ratelimit-remaining";

// Remaining and reset are read in pairs: one provider sends both spellings for different limits.
struct Family {
    std::string_view remaining;
    std::string_view reset;
};
constexpr std::array<Family, 4> k_families = {{{"ratelimit-remaining", "ratelimit-reset"},
                                               {"x-ratelimit-remaining", "x-ratelimit-reset"},
                                               {"rate-limit-remaining", "rate-limit-reset"},
                                               {"x-rate-limit-remaining", "x-rate-limit-reset"}}};

bool is_named(const HeadField& field, std::string_view name) {
    return equals_ignoring_case(field.name, name);
}

bool is_remaining(std::string_view name) {
    return name.size() >= k_remaining.size() &&
           equals_ignoring_case(name.substr(name.size() - k_remaining.size()), k_remaining);
}

bool is_zero(std::string_view value) {
    return parse_seconds(value) == Duration{0};
}

// The delay that was asked and the field that asked for it.
struct Asked {
    std::optional<Duration> delay;
    const HeadField* field = nullptr;

    void offer(std::optional<Duration> other, const HeadField& from) {
        if (other && (!delay || *other > *delay)) *this = {other, &from};
    }
};

Asked asked_by_milliseconds(const std::vector<HeadField>& fields) {
    for (const std::string_view name : {"retry-after-ms", "x-ms-retry-after-ms"}) {
        Asked asked;
        for (const HeadField& field : fields) {
            if (is_named(field, name)) asked.offer(parse_milliseconds(field.value), field);
        }
        if (asked.delay) return asked;
    }
    return {};
}

Asked asked_by_retry_after(const std::vector<HeadField>& fields, WallTime now) {
    Asked asked;
    for (const HeadField& field : fields) {
        if (is_named(field, k_retry_after)) asked.offer(parse_retry_after(field.value, now), field);
    }
    return asked;
}

Asked asked_by_reset_after(const std::vector<HeadField>& fields) {
    Asked asked;
    for (const HeadField& field : fields) {
        if (is_named(field, "x-ratelimit-reset-after")) asked.offer(parse_seconds(field.value), field);
    }
    return asked;
}

// Splits at `separator` outside double quotes.
std::vector<std::string_view> split_unquoted(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    bool quoted = false;
    std::size_t start = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') quoted = !quoted;
        if (quoted || text[i] != separator) continue;
        parts.push_back(trim(text.substr(start, i - start)));
        start = i + 1;
    }
    parts.push_back(trim(text.substr(start)));
    return parts;
}

// The `t` of an item such as "name";r=0;t=30 that has nothing left.
std::optional<Duration> used_up_item(std::string_view item) {
    bool used_up = false;
    std::optional<Duration> reset;
    const auto parts = split_unquoted(item, ';');
    for (std::size_t i = 1; i < parts.size(); ++i) {
        if (parts[i].starts_with("r=")) used_up = is_zero(parts[i].substr(2));
        if (parts[i].starts_with("t=")) reset = parse_seconds(parts[i].substr(2));
    }
    return used_up ? reset : std::nullopt;
}

Asked asked_by_rate_limit(const std::vector<HeadField>& fields) {
    Asked asked;
    for (const HeadField& field : fields) {
        if (!is_named(field, "ratelimit")) continue;
        for (const std::string_view item : split_unquoted(field.value, ',')) {
            asked.offer(used_up_item(item), field);
        }
    }
    return asked;
}

Asked asked_by_reset(const std::vector<HeadField>& fields, WallTime now) {
    Asked asked;
    for (const Family& family : k_families) {
        const auto is_left = [&](const HeadField& f) { return is_named(f, family.remaining); };
        const auto has_some = [&](const HeadField& f) { return is_left(f) && !is_zero(f.value); };
        if (std::none_of(fields.begin(), fields.end(), is_left)) continue;
        if (std::any_of(fields.begin(), fields.end(), has_some)) continue;
        for (const HeadField& field : fields) {
            if (is_named(field, family.reset)) asked.offer(parse_reset(field.value, now), field);
        }
    }
    return asked;
}

bool nothing_remains(const std::vector<HeadField>& fields) {
    bool seen = false;
    for (const HeadField& field : fields) {
        if (!is_remaining(field.name)) continue;
        if (!is_zero(field.value)) return false;
        seen = true;
    }
    return seen;
}

WallTime servers_now(const std::vector<HeadField>& fields, WallTime now) {
    for (const HeadField& field : fields) {
        if (!is_named(field, "date")) continue;
        if (const auto date = parse_http_date(field.value, now)) return *date;
    }
    return now;
}

// A delay in so many words; the other fields are on served answers too.
Asked asked_outright(const std::vector<HeadField>& fields, WallTime now) {
    const Asked asked = asked_by_milliseconds(fields);
    return asked.delay ? asked : asked_by_retry_after(fields, now);
}

HttpAnswerKind kind_of(int status, bool asked_outright, const std::vector<HeadField>& fields) {
    if (status < 200) return HttpAnswerKind::interim;
    if (status == 429) return HttpAnswerKind::refused;
    if (status == 403 && (asked_outright || nothing_remains(fields))) return HttpAnswerKind::refused;
    if (status == 413 && asked_outright) return HttpAnswerKind::refused;
    if (status >= 500) return asked_outright ? HttpAnswerKind::refused : HttpAnswerKind::fault;
    return HttpAnswerKind::accepted;
}

std::string printed(const HeadField& field) {
    constexpr std::size_t k_most_shown = 80;
    const bool known = is_named(field, k_retry_after);
    return (known ? std::string(k_retry_after) : field.name) + ": " + field.value.substr(0, k_most_shown);
}

}  // namespace

bool is_telling_field(std::string_view name) {
    constexpr std::array<std::string_view, 6> k_single = {"retry-after",         "retry-after-ms",
                                                          "x-ms-retry-after-ms", "x-ratelimit-reset-after",
                                                          "ratelimit",           "date"};
    const auto is = [&](std::string_view other) { return equals_ignoring_case(name, other); };
    if (is_remaining(name) || std::any_of(k_single.begin(), k_single.end(), is)) return true;
    return std::any_of(k_families.begin(), k_families.end(),
                       [&](const Family& family) { return is(family.remaining) || is(family.reset); });
}

HttpAnswer judge_http_answer(int status, const std::vector<HeadField>& fields, WallTime now) {
    const WallTime then = servers_now(fields, now);
    Asked asked = asked_outright(fields, then);
    HttpAnswer answer;
    answer.kind = kind_of(status, asked.delay.has_value(), fields);
    if (answer.kind != HttpAnswerKind::refused) return answer;

    if (!asked.delay) asked = asked_by_reset_after(fields);
    if (!asked.delay) asked = asked_by_rate_limit(fields);
    if (!asked.delay) asked = asked_by_reset(fields, then);
    answer.asked = asked.delay;
    answer.reason = "HTTP " + std::to_string(status);
    if (asked.field != nullptr) answer.reason += ", " + printed(*asked.field);
    if (asked.delay) return answer;
    for (const HeadField& field : fields) {
        const bool should_ask = is_named(field, k_retry_after) || is_named(field, "retry-after-ms") ||
                                is_named(field, "x-ms-retry-after-ms");
        if (should_ask && answer.ill_formed.empty()) answer.ill_formed = printed(field);
    }
    return answer;
}

}  // namespace jobthrottle
