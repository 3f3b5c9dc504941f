// SPDX-License-Identifier: MIT
#include "output/messages.hpp"

#include <algorithm>
#include <string_view>

#include "base/text.hpp"
#include "core/duration.hpp"
#include "output/columns.hpp"
#include "output/wording.hpp"

namespace jobthrottle {

namespace {

// Parts of the text are escaped already, those of errors are not: a backslash stays as it is.
std::string escape_once(std::string_view text) {
    std::string out;
    for (const auto part : split(text, '\\')) {
        if (part.data() != text.data()) out += '\\';
        out += escape_for_display(part);
    }
    return out;
}

std::string field_value(const std::string& value) {
    std::string escaped = escape_for_display(value);
    if (!escaped.empty() && escaped.find_first_of(" \"=") == std::string::npos) return escaped;
    std::string out = "\"";
    for (const char c : escaped) {
        if (c == '"') out += '\\';
        out += c;
    }
    return out + "\"";
}

std::string number(std::int64_t value) {
    return std::to_string(value);
}

Duration left_after(Duration length, Duration gone) {
    return is_for_ever(length) ? length : std::max(Duration::zero(), length - gone);
}

const char* name_of(WaitCause cause) {
    switch (cause) {
        case WaitCause::rate:
            return "rate";
        case WaitCause::paused:
            return "paused";
        case WaitCause::lease:
            return "lease";
        case WaitCause::line:
            break;
    }
    return "line";
}

// What holds the job, as the fields name it; `paused`: the pause is not over yet.
std::string cause_of(const Answer& answer, bool paused) {
    if (paused) return name_of(WaitCause::paused);
    return name_of(held_by_leases(answer) ? WaitCause::lease : answer.why);
}

// The places hold it: all are taken, or those that are free are for others.
bool held_by_places(const Answer& answer) {
    const auto& concurrency = answer.terms.concurrency();
    return held_by_leases(answer) && concurrency && (answer.places >= *concurrency || answer.ahead > 0);
}

// " (rate 20/min)", " (rates 10/s and 500/min)", " (concurrency 2)".
std::string limit_text(const Answer& answer) {
    const Terms& terms = answer.terms;
    const auto& concurrency = terms.concurrency();
    if (concurrency && (held_by_places(answer) || terms.rates().empty()))
        return " (concurrency " + number(*concurrency) + ")";
    if (terms.rates().empty()) return "";
    return (terms.rates().size() > 1 ? " (rates " : " (rate ") + rates_text(terms) + ")";
}

// "paused until 14:31:07 (27m45s left): HTTP 429, Retry-After: 1800, seen by gh on ci-07".
std::string paused_text(Duration left, bool by_hand, const std::optional<PauseNote>& note,
                        const LocalTime& now) {
    std::string text = by_hand ? "paused by hand until " : "paused until ";
    if (is_for_ever(left)) {
        text += "it is resumed";
    } else {
        text += moment_text(now.wall + left, now) + " (" + format_duration(left) + " left)";
    }
    const std::string evidence = note ? evidence_text(*note) : "";
    return evidence.empty() ? text : text + ": " + evidence;
}

std::string place_text(const Answer& answer) {
    return answer.ahead > 0 ? count_text(answer.ahead) + " ahead" : "next in line";
}

// "all 2 places taken"; of those under way only where successes are counted.
std::string leases_text(const Answer& answer) {
    const auto& concurrency = answer.terms.concurrency();
    if (!concurrency || !held_by_places(answer)) return "those under way would fill it";
    if (answer.places < *concurrency) {
        return *concurrency - answer.places == 1 ? "the free place is for those ahead"
                                                 : "the free places are for those ahead";
    }
    return *concurrency == 1 ? "the only place is taken"
                             : "all " + count_text(*concurrency) + " places taken";
}

// Without the end of the pause: "paused by hand until it is resumed: deploy window, by dev on box".
std::string live_pause(const WaitView& view, Duration left) {
    const Answer& answer = view.answer;
    const std::string evidence = view.note ? evidence_text(*view.note) : "";
    std::string text = is_for_ever(left) ? "" : format_duration(left) + " left, ";
    text += answer.paused_by_hand ? "paused by hand" : "paused";
    text +=
        is_for_ever(left) ? " until it is resumed" : " until " + moment_text(view.now.wall + left, view.now);
    text += ", " + place_text(answer);
    return evidence.empty() ? text : text + ": " + evidence;
}

std::string not_run(bool ran_before) {
    return ran_before ? "not run again." : "not run.";
}

// How the key stands: the sentence that all of the throttled lines begin with, without its full stop.
std::string standing_text(const ThrottledView& view) {
    const Answer& answer = view.answer;
    const std::string key = view.key.shown();
    const std::string ahead = answer.ahead > 0 ? count_text(answer.ahead) + " ahead, " : "";
    const std::string forecast = ahead + "could start in about " + format_duration(view.wait);
    if (answer.paused_for > Duration::zero()) {
        const Duration since_answer = std::max(Duration::zero(), answer.earliest - view.wait);
        const Duration left = left_after(answer.paused_for, since_answer);
        std::string text = key + " is " + paused_text(left, answer.paused_by_hand, view.note, view.now);
        const bool has_more = answer.ahead > 0 && !is_for_ever(view.wait);
        return has_more ? text + "; " + forecast : text;
    }
    if (held_by_leases(answer)) {
        const std::string behind = answer.ahead > 0 ? ", " + count_text(answer.ahead) + " ahead" : "";
        return key + " is busy: " + leases_text(answer) + behind + limit_text(answer);
    }
    if (view.wait <= Duration::zero()) return key + ": no start was possible yet" + limit_text(answer);
    return key + " is busy: " + forecast + limit_text(answer);
}

Line throttled_line(const ThrottledView& view, const std::string& ending) {
    const Answer& answer = view.answer;
    const bool paused = answer.paused_for > Duration::zero();
    Line line{standing_text(view) + ". " + ending + not_run(view.ran_before), {}};
    line.fields = {
        {"key", view.key.bytes()}, {"why", cause_of(answer, paused)}, {"ahead", number(answer.ahead)}};
    const bool has_forecast = !is_for_ever(view.wait) && !held_by_leases(answer);
    if (has_forecast) line.fields.emplace_back("wait_s", number(ceil_seconds(view.wait)));
    line.fields.emplace_back("waited_ms", number(ceil_ms(view.waited)));
    if (view.max_wait) line.fields.emplace_back("max_wait_ms", number(ceil_ms(*view.max_wait)));
    line.fields.emplace_back("exit", number(view.exit_code));
    return line;
}

std::string max_wait_text(const ThrottledView& view) {
    return "--max-wait " + (view.max_wait ? format_duration_exactly(*view.max_wait) : "forever");
}

}  // namespace

std::string render(const Line& line, bool terminal) {
    std::string out = "jobthrottle: " + escape_once(line.text);
    if (terminal || line.fields.empty()) return out;
    out += ' ';
    for (const auto& [name, value] : line.fields)
        out += " " + name + "=" + field_value(value);
    return out;
}

Line say_waiting(const WaitView& view) {
    const Answer& answer = view.answer;
    const Duration eta = left_after(answer.earliest, view.since_answer);
    const Duration paused = left_after(answer.paused_for, view.since_answer);
    const bool in_pause = paused > Duration::zero();
    const bool leased = held_by_leases(answer);
    std::string place = place_text(answer);
    if (leased) {
        place = leases_text(answer) + ", " + place;
    } else if (eta <= Duration::zero()) {
        place += ", starts any moment";
    } else if (!is_for_ever(eta) && (answer.ahead > 0 || !in_pause)) {
        place += ", starts in about " + format_duration(eta);
    }
    Line line{"waiting for " + view.key.shown() + ": ", {}};
    if (in_pause) {
        line.text += paused_text(paused, answer.paused_by_hand, view.note, view.now) + "; " + place;
    } else {
        line.text += place + limit_text(answer);
    }
    line.fields = {
        {"key", view.key.bytes()}, {"why", cause_of(answer, in_pause)}, {"ahead", number(answer.ahead)}};
    if (!is_for_ever(eta) && !leased) line.fields.emplace_back("eta_ms", number(ceil_ms(eta)));
    line.fields.emplace_back("waited_ms", number(ceil_ms(view.waited)));
    return line;
}

std::string live_line(const WaitView& view, int width) {
    constexpr int k_roomy = 60;  // columns that have room for our name
    const Duration eta = left_after(view.answer.earliest, view.since_answer);
    const Duration paused = left_after(view.answer.paused_for, view.since_answer);
    std::string text = width < k_roomy ? "" : "jobthrottle: ";
    text += cut_to_width(view.key.shown(), std::max(width / 3, 1)) + ": ";
    if (paused > Duration::zero()) return cut_at_word(text + live_pause(view, paused), width);
    if (held_by_leases(view.answer)) {
        text += leases_text(view.answer);
    } else {
        text += eta > Duration::zero() ? "starts in " + format_duration(eta) : "starts any moment";
    }
    return cut_at_word(text + ", " + place_text(view.answer) + limit_text(view.answer), width);
}

Line say_not_answered(const Key& key, const std::string& store, Duration waited) {
    return {
        "waiting for " + key.shown() + ": no answer yet from store " + escape_for_display(store),
        {{"key", key.bytes()}, {"why", "store"}, {"store", store}, {"waited_ms", number(ceil_ms(waited))}}};
}

Line say_not_now(const ThrottledView& view) {
    return throttled_line(view, "With --no-wait: ");
}

Line say_crowded(const ThrottledView& view, std::int64_t max_waiting) {
    const std::int64_t waiting = view.answer.waiting;
    const std::string who = waiting == 1 ? "1 job waits already" : count_text(waiting) + " jobs wait already";
    return {view.key.shown() + ": " + who + ", and --max-waiting " + number(max_waiting) +
                " lets no more line up: " + not_run(view.ran_before),
            {{"key", view.key.bytes()},
             {"why", "crowded"},
             {"waiting", number(waiting)},
             {"waited_ms", number(ceil_ms(view.waited))},
             {"exit", number(view.exit_code)}}};
}

Line say_too_long(const ThrottledView& view) {
    if (view.waited < std::chrono::milliseconds{100}) {
        return throttled_line(view, "Longer than " + max_wait_text(view) + ": ");
    }
    return throttled_line(view, "Has waited " + past_text(view.waited) + ", and would wait longer than " +
                                    max_wait_text(view) + ": ");
}

Line say_waited_out(const ThrottledView& view) {
    return throttled_line(view,
                          "Has waited " + past_text(view.waited) + ", all of " + max_wait_text(view) + ": ");
}

}  // namespace jobthrottle
