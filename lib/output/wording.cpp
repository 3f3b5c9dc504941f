// SPDX-License-Identifier: MIT
#include "output/wording.hpp"

#include <algorithm>
#include <cstdio>

#include "base/text.hpp"
#include "core/duration.hpp"
#include "output/columns.hpp"

namespace jobthrottle {

namespace {

using namespace std::chrono_literals;

constexpr int k_longest_evidence = 160;  // columns; a header of a provider may be of any length

bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./:@%+=,").find(c) != std::string_view::npos;
}

bool is_printable(char c) {
    return c >= ' ' && c <= '~';
}

std::string dollar_quoted(std::string_view bytes) {
    std::string out = "$'";
    for (const char c : bytes) {
        char text[8];
        if (c == '\'' || c == '\\') {
            out += {'\\', c};
        } else if (is_printable(c)) {
            out += c;
        } else {
            std::snprintf(text, sizeof text, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
            out += text;
        }
    }
    return out + "'";
}

}  // namespace

std::string count_text(std::int64_t count) {
    std::string text = std::to_string(count);
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > (count < 0 ? 1 : 0); at -= 3)
        text.insert(static_cast<std::size_t>(at), ",");
    return text;
}

std::string period_text(Duration period) {
    if (period % 1s == Duration::zero() && period <= 120s) return std::to_string(period / 1s) + " s";
    return format_duration_exactly(period);
}

std::string spacing_text(const Rate& rate) {
    const double us = static_cast<double>(rate.period().count()) / static_cast<double>(rate.allow());
    if (us >= 1e6) return format_duration(Duration{rate.spacing_us() + (rate.spacing_rest() > 0 ? 1 : 0)});
    char text[32];
    const bool in_ms = us >= 1e3;
    const double value = in_ms ? us / 1e3 : us;
    std::snprintf(text, sizeof text, value < 999.5 ? "%.3g %s" : "%.0f %s", value, in_ms ? "ms" : "us");
    return text;
}

std::string past_text(Duration length) {
    const Duration unit = length < 1ms     ? Duration{1us}
                          : length < 100ms ? Duration{1ms}
                          : length < 60s   ? Duration{100ms}
                          : length < 1h    ? Duration{1s}
                          : length < 24h   ? Duration{1min}
                                           : Duration{1h};
    return format_duration(length - length % unit);
}

std::int64_t ceil_ms(Duration length) {
    return std::chrono::ceil<std::chrono::milliseconds>(length).count();
}

std::int64_t ceil_seconds(Duration length) {
    return std::chrono::ceil<std::chrono::seconds>(length).count();
}

Person person_of(std::string_view who) {
    const auto at = who.find('@');
    if (at == std::string_view::npos) return {escape_for_display(who), ""};
    const std::string_view host = who.substr(at + 1);
    return {escape_for_display(who.substr(0, at)), escape_for_display(host.substr(0, host.rfind(':')))};
}

WaiterName waiter_name_of(std::string_view who) {
    const auto space = who.rfind(' ');
    if (space == std::string_view::npos) return {escape_for_display(who), ""};
    return {escape_for_display(who.substr(0, space)), escape_for_display(who.substr(space + 1))};
}

std::string evidence_text(const PauseNote& note) {
    const bool by_hand = note.summary.empty();
    std::string text =
        cut_to_width(escape_for_display(by_hand ? note.reason : note.summary), k_longest_evidence);
    // "said by curl": what it said tells more.
    if (note.summary.rfind("said by ", 0) == 0 && !note.line.empty()) {
        text = '"' + cut_to_width(escape_for_display(note.line), k_longest_evidence) + '"';
    }
    const Person person = person_of(note.who);
    const std::string name = by_hand ? person.user : escape_for_display(note.job);
    if (name.empty()) return text;
    if (!text.empty()) text += ", ";
    text += (by_hand ? "by " : "seen by ") + name;
    if (!person.host.empty()) text += " on " + person.host;
    return text;
}

std::string by_whom(const std::optional<Registration>& registration) {
    if (!registration || registration->who.empty()) return "";
    return " by " + escape_for_display(registration->who);
}

std::string shell_word(std::string_view bytes) {
    if (!bytes.empty() && std::all_of(bytes.begin(), bytes.end(), is_plain)) return std::string(bytes);
    if (!std::all_of(bytes.begin(), bytes.end(), is_printable)) return dollar_quoted(bytes);
    std::string out = "'";
    for (const char c : bytes)
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

std::string rates_text(const Terms& terms) {
    const auto rates = Terms::make(terms.given());
    return rates ? rates->text() : "";
}

std::string limit_options(const Terms& terms) {
    std::string options;
    for (const Rate& rate : terms.given())
        options += " -r " + rate.text();
    if (terms.concurrency()) options += " -j " + std::to_string(*terms.concurrency());
    return options;
}

bool held_by_leases(const Answer& answer) {
    if (answer.paused_for > Duration::zero()) return false;
    const auto& concurrency = answer.terms.concurrency();
    const bool is_full = concurrency && answer.places >= *concurrency;
    return answer.why == WaitCause::lease || (answer.why == WaitCause::line && is_full);
}

std::string command_for(const std::string& command, const std::string& key_bytes,
                        const std::string& options) {
    const bool like_an_option = key_bytes.front() == '-';
    return "jobthrottle " + command + " " + (like_an_option ? "--key=" : std::string()) +
           shell_word(key_bytes) + options;
}

}  // namespace jobthrottle
