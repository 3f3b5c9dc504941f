// SPDX-License-Identifier: MIT
#include "output/key_state.hpp"

#include <algorithm>
#include <tuple>

#include "core/duration.hpp"
#include "output/columns.hpp"
#include "output/wording.hpp"

namespace jobthrottle {

namespace {

// Columns that a cut cell keeps.
constexpr int k_least_key = 10;
constexpr int k_least_rate = 10;

std::string short_state(const KeyReport& report) {
    switch (state_of(report)) {
        case KeyState::paused:
            return report.paused_for_ever ? "PAUSED until resumed"
                                          : "PAUSED " + format_duration(report.paused_for) + " left";
        case KeyState::busy:
            if (report.available_in <= Duration::zero()) return "BUSY";
            return "BUSY " + format_duration(report.available_in);
        case KeyState::free:
            break;
    }
    return "FREE";
}

// The limit whose window has the least room; null: none.
const LimitReport* fullest(const KeyReport& report) {
    const auto found = std::min_element(
        report.limits.begin(), report.limits.end(),
        [](const LimitReport& a, const LimitReport& b) { return a.remaining < b.remaining; });
    return found == report.limits.end() ? nullptr : &*found;
}

std::string window_text(const KeyReport& report) {
    const LimitReport* limit = fullest(report);
    if (limit == nullptr) return "-";
    return count_text(limit->starts) + " of " + count_text(limit->rate.allow());
}

std::string places_text(const KeyReport& report) {
    if (!report.terms.concurrency()) return "-";
    return count_text(report.places) + " of " + count_text(*report.terms.concurrency());
}

Duration held_for(const KeyReport& report) {
    if (report.paused_for_ever) return Duration::max();
    return state_of(report) == KeyState::paused ? report.paused_for : report.available_in;
}

// The state in a line of a table, which begins at `column`.
std::string coloured_row(const std::string& line, int column, KeyState state) {
    const std::size_t at = bytes_within(line, column);
    return line.substr(0, at) + coloured(line.substr(at), state, true);
}

}  // namespace

KeyState state_of(const KeyReport& report) {
    if (report.paused_for_ever || report.paused_for > Duration::zero()) return KeyState::paused;
    const bool busy = report.available_in > Duration::zero() || all_places_taken(report);
    return busy ? KeyState::busy : KeyState::free;
}

bool all_places_taken(const KeyReport& report) {
    const auto& concurrency = report.terms.concurrency();
    return concurrency && report.places >= *concurrency;
}

std::string state_sentence(const KeyReport& report, const LocalTime& now) {
    switch (state_of(report)) {
        case KeyState::paused:
            if (report.paused_for_ever) return "PAUSED until it is resumed";
            return "PAUSED until " + moment_text(now.wall + report.paused_for, now) + ", " +
                   format_duration(report.paused_for) + " left";
        case KeyState::busy: {
            const std::int64_t in_line = count_in_line(report);
            const std::string waiting = in_line > 0 ? count_text(in_line) + " waiting; " : "";
            return "BUSY, " + waiting + "a job coming now starts " +
                   (all_places_taken(report) ? "when a place is free"
                                             : "in about " + format_duration(report.available_in));
        }
        case KeyState::free:
            break;
    }
    return "FREE, the next job starts at once";
}

std::string coloured(const std::string& sentence, KeyState state, bool colour) {
    if (!colour) return sentence;
    const char* on = state == KeyState::paused ? "\x1b[31m"
                     : state == KeyState::busy ? "\x1b[33m"
                                               : "\x1b[32m";
    const auto end = std::min(sentence.find_first_of(" ,"), sentence.size());
    return on + sentence.substr(0, end) + "\x1b[0m" + sentence.substr(end);
}

std::int64_t count_in_line(const KeyReport& report) {
    return std::count_if(report.waiting.begin(), report.waiting.end(),
                         [](const Waiter& waiter) { return waiter.place == Place::in_line; });
}

std::vector<NamedReport> most_limited_first(std::vector<NamedReport> keys) {
    std::sort(keys.begin(), keys.end(), [](const NamedReport& a, const NamedReport& b) {
        return std::make_tuple(state_of(a.second), held_for(b.second), a.first) <
               std::make_tuple(state_of(b.second), held_for(a.second), b.first);
    });
    return keys;
}

std::string keys_text(const std::vector<NamedReport>& keys, int width, bool colour) {
    if (keys.empty()) return "";
    const auto sorted = most_limited_first(keys);
    Column key{"key", {}, Align::left, 0, k_least_key}, state{"state", {}},
        rate{"rate", {}, Align::left, 2, k_least_rate}, window{"window", {}, Align::left, 1},
        places{"at once", {}, Align::left, 3}, waiting{"waiting", {}, Align::right, 4};
    for (const auto& [name, report] : sorted) {
        key.cells.push_back(name.shown());
        state.cells.push_back(short_state(report));
        const std::string rates = rates_text(report.terms);
        rate.cells.push_back(rates.empty() ? "-" : rates);
        window.cells.push_back(window_text(report));
        places.cells.push_back(places_text(report));
        waiting.cells.push_back(count_text(count_in_line(report)));
    }
    const bool with_places = std::any_of(sorted.begin(), sorted.end(), [](const NamedReport& named) {
        return named.second.terms.concurrency().has_value();
    });
    std::vector<Column> columns{key, state, rate, window, waiting};
    if (with_places) columns.insert(columns.end() - 1, places);
    const auto lines = table(std::move(columns), std::max(width, 20));
    const int state_column = display_width(lines[0].substr(0, lines[0].find(state.heading)));
    std::string text = lines[0] + "\n";
    for (std::size_t i = 1; i < lines.size(); ++i) {
        text += colour ? coloured_row(lines[i], state_column, state_of(sorted[i - 1].second)) : lines[i];
        text += '\n';
    }
    return text;
}

}  // namespace jobthrottle
