// SPDX-License-Identifier: MIT
#include "output/inspect.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "core/duration.hpp"
#include "output/columns.hpp"
#include "output/job_tables.hpp"
#include "output/key_state.hpp"
#include "output/page.hpp"
#include "output/wall_clock.hpp"
#include "output/wording.hpp"

namespace jobthrottle {

namespace {

constexpr int k_narrow = 60;           // below, tables begin under their label
constexpr int k_widest_headline = 80;  // the clock stands no farther to the right

std::string registered_text(const InspectView& view) {
    const auto& registration = view.report.registration;
    if (!registration) return "";
    std::string text = "registered" + by_whom(registration);
    if (registration->at_s > 0)
        text += ", " + moment_text(wall_time_s(registration->at_s), {view.now, view.utc_offset_s});
    return text;
}

void put_headline(Page& page, const InspectView& view, bool colour) {
    const KeyState state = state_of(view.report);
    const LocalTime now{view.now, view.utc_offset_s};
    const std::string key = view.key.shown();
    const std::string clock = clock_text(view.now, view.utc_offset_s);
    const std::string sentence = state_sentence(view.report, now);
    const int used = display_width(key) + 3 + display_width(sentence);
    if (used <= page.width()) {
        const int gap = std::min(page.width(), k_widest_headline) - used - display_width(clock);
        page.line(key + "   " + coloured(sentence, state, colour) + (gap >= 2 ? spaces(gap) + clock : ""));
        return;
    }
    for (const auto& line : wrap(key, page.width()))
        page.line(line);
    bool first = true;
    for (const auto& line : wrap(sentence, page.width() - 2)) {
        page.line("  " + coloured(line, state, colour && first));
        first = false;
    }
}

// What holds the first in line: the places, or one of the limits by its window or by its pace.
struct Holds {
    bool places = false;
    const LimitReport* window = nullptr;
    const LimitReport* pace = nullptr;
};
Holds what_holds(const KeyReport& report) {
    Holds holds;
    if (state_of(report) != KeyState::busy || count_in_line(report) == 0) return holds;
    holds.places = all_places_taken(report);
    if (holds.places || report.limits.empty()) return holds;
    for (const LimitReport& limit : report.limits) {
        if (limit.remaining == 0 && limit.rate.burst() > 1 && holds.window == nullptr) holds.window = &limit;
    }
    if (holds.window == nullptr) holds.pace = &report.limits.front();
    return holds;
}

void put_limits(Page& page, const InspectView& view) {
    const KeyReport& report = view.report;
    if (report.limits.empty() && !report.terms.concurrency()) {
        // Pauses alone were meant only where a job has come with none.
        const bool came = report.started > 0 || !report.waiting.empty();
        page.row("rate", {came ? "none: pauses alone" : "no limit is known now", registered_text(view)});
        return;
    }
    const std::string mark = "<- holds the first";
    const Holds holds = what_holds(report);
    for (const LimitReport& limit : report.limits) {
        const bool first = &limit == &report.limits.front();
        const Rate& rate = limit.rate;
        // A window beside the one that paces lets all of it start at once.
        const bool is_window = !first && rate.burst() == rate.allow();
        std::string text = Rate::make(rate.allow(), rate.period())->text();
        if (!is_window) text += ", one every " + spacing_text(rate);
        if (rate.burst() > 1 && !is_window)
            text += ", up to " + count_text(rate.burst()) + " at once when idle";
        page.row(first ? "rate" : "and",
                 {text, first ? registered_text(view) : "", holds.pace == &limit ? mark : ""});
        page.row("window", {count_text(limit.starts) + " of " + count_text(rate.allow()) + " in " +
                                period_text(rate.period()),
                            holds.window == &limit ? mark : ""});
    }
}

// Under its label where there is room, else under that.
void put_table(Page& page, const std::vector<Holder>& holding) {
    if (holding.empty()) return;
    if (page.width() >= k_narrow) {
        page.labelled("", holding_lines(holding, page.width() - Page::k_value_column));
        return;
    }
    for (const auto& line : holding_lines(holding, page.width() - 2))
        page.line("  " + line);
}

// "2 of 4   job  where": the table begins beside the count.
void put_places_beside(Page& page, const std::string& count, const std::vector<Holder>& holding) {
    const int indent = display_width(count) + 3;
    auto lines = holding_lines(holding, page.width() - Page::k_value_column - indent);
    for (std::size_t i = 0; i < lines.size(); ++i)
        lines[i] = (i == 0 ? count + "   " : spaces(indent)) + lines[i];
    page.labelled("at once", lines);
}

// Those that hold a place, and apart from them those that are only kept account of.
void put_holders(Page& page, const InspectView& view) {
    const KeyReport& report = view.report;
    std::vector<Holder> holding, others;
    for (const Holder& holder : report.holding)
        (holder.place ? holding : others).push_back(holder);
    const auto& concurrency = report.terms.concurrency();
    if (concurrency || !holding.empty()) {
        const std::string count =
            count_text(report.places) + (concurrency ? " of " + count_text(*concurrency) : "");
        const std::string mark = what_holds(report).places ? "<- holds the first" : "";
        const std::string registered = report.limits.empty() ? registered_text(view) : "";
        const bool alone = registered.empty() && mark.empty() && page.width() >= k_narrow;
        if (alone && !holding.empty()) {
            put_places_beside(page, count, holding);
        } else {
            page.row("at once", {count, registered, mark});
            put_table(page, holding);
        }
    }
    if (others.empty()) return;
    page.row("under way", {count_text(static_cast<std::int64_t>(others.size())) +
                           ", whose cost or success is told later"});
    put_table(page, others);
}

void put_waiting(Page& page, const KeyReport& report, bool everybody) {
    const bool forecasts = !all_places_taken(report);
    const std::int64_t in_line = count_in_line(report);
    const auto late = static_cast<std::int64_t>(report.waiting.size()) - in_line;
    if (in_line == 0) {
        page.row("waiting", {"nobody"});
    } else if (page.width() >= k_narrow) {
        page.labelled("waiting", waiting_lines(report.waiting, page.width() - Page::k_value_column, everybody,
                                               forecasts));
    } else {
        page.row("waiting", {count_text(in_line)});
        for (const auto& line : waiting_lines(report.waiting, page.width() - 2, everybody, forecasts))
            page.line("  " + line);
    }
    if (late > 0) {
        page.row("late", {count_text(late) + " did not come back in time, and hold nobody up"});
    }
}

// What was seen, by whom and when, of a pause in force.
void put_why(Page& page, const InspectView& view) {
    const auto& note = view.report.note;
    if (!note) {
        page.row("why", {view.report.paused_by_hand ? "by hand" : "not known"});
        return;
    }
    const std::string at = moment_text(wall_time_s(note->at_s), {view.now, view.utc_offset_s});
    const std::string who = escape_for_display(note->who);
    if (note->summary.empty()) {
        page.row("why", {note->reason.empty() ? "by hand" : "by hand: " + escape_for_display(note->reason)});
        page.row("", {at + (who.empty() ? "" : ", " + who)});
        return;
    }
    std::string what = escape_for_display(note->summary);
    if (!note->line.empty()) what += ": \"" + escape_for_display(note->line) + "\"";
    page.row("why", {what});
    page.row("", {at + " on " + escape_for_display(note->stream) + " of " + escape_for_display(note->job) +
                  (who.empty() ? "" : ", " + who)});
}

void put_then(Page& page, const InspectView& view) {
    const KeyReport& report = view.report;
    const std::int64_t in_line = count_in_line(report);
    if (in_line > 0) {
        std::string text = count_text(in_line) + (in_line == 1 ? " waiting starts" : " waiting start");
        if (!report.limits.empty() && in_line > 1)
            text += " one every " + spacing_text(report.limits.front().rate) + " in their order";
        const Duration last = report.waiting[static_cast<std::size_t>(in_line) - 1].starts_in;
        if (report.terms.concurrency()) {
            text += report.limits.empty() || in_line == 1 ? " when a place is free" : ", as places are free";
        } else if (!is_for_ever(last)) {
            text += in_line > 1 ? ", the last about " : " about ";
            text += moment_text(view.now + last, {view.now, view.utc_offset_s});
        }
        page.row("then", {text});
    }
    const std::string undo = command_for("resume", view.key.bytes());
    if (display_width(undo) <= page.width() - Page::k_value_column) page.row("undo", {undo});
}

void put_last_pause(Page& page, const InspectView& view) {
    if (!view.report.note) return;
    const PauseNote& note = *view.report.note;
    const WallTime at = wall_time_s(note.at_s);
    std::string text = moment_text(at, {view.now, view.utc_offset_s});
    if (view.now > at) text += ", " + past_text(view.now - at) + " ago";
    const std::string evidence = evidence_text(note);
    if (!evidence.empty()) text += ": " + evidence;
    const bool http_429 = (note.summary + note.line).find("429") != std::string::npos;
    page.row(note.summary.empty() ? "paused" : http_429 ? "last 429" : "refused", {text});
}

std::string unknown_text(const InspectView& view, int width) {
    std::string near;
    for (const auto& key : view.nearest)
        near += (near.empty() ? " (nearest: " : ", ") + escape_for_display(key);
    if (!near.empty()) near += ")";
    Page page(width);
    for (const auto& line : wrap(view.key.shown() + " is not known" + near, page.width()))
        page.line(line);
    page.row("store", {escape_for_display(view.store), escape_for_display(view.shared_note)});
    return page.take();
}

}  // namespace

std::string inspect_text(const InspectView& view, int width, bool colour) {
    if (!view.report.known) return unknown_text(view, width);
    const bool paused = state_of(view.report) == KeyState::paused;
    Page page(width);
    put_headline(page, view, colour);
    page.row("store", {escape_for_display(view.store), escape_for_display(view.shared_note)});
    if (paused) put_why(page, view);
    put_limits(page, view);
    put_holders(page, view);
    put_waiting(page, view.report, view.everybody);
    if (paused) {
        put_then(page, view);
    } else {
        put_last_pause(page, view);
    }
    return page.take();
}

std::string jobs_text(const std::vector<Waiter>& waiting, const std::vector<Holder>& holding, int width) {
    const int room = std::max(width, Page::k_least_width);
    std::string text;
    if (!holding.empty()) {
        for (const auto& line : holding_lines(holding, room))
            text += line + "\n";
    }
    if (std::any_of(waiting.begin(), waiting.end(),
                    [](const Waiter& waiter) { return waiter.place == Place::in_line; })) {
        for (const auto& line : waiting_lines(waiting, room, false, false))
            text += line + "\n";
    }
    return text;
}

}  // namespace jobthrottle
