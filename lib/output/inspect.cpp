// SPDX-License-Identifier: MIT
#include "output/inspect.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "core/duration.hpp"
#include "output/columns.hpp"
#include "output/key_state.hpp"
#include "output/wall_clock.hpp"
#include "output/wording.hpp"

namespace jobthrottle {

namespace {

constexpr int k_least_width = 20;
constexpr int k_widest_headline = 80;  // the clock stands no farther to the right
constexpr int k_label_width = 10;      // after an indent of two
constexpr int k_value_column = 2 + k_label_width;
constexpr int k_narrow = 60;     // below, tables begin under their label
constexpr int k_least_job = 12;  // columns that a cut name keeps
constexpr std::size_t k_shown_at_the_head = 9;

std::string spaces(int count) {
    return std::string(static_cast<std::size_t>(std::max(0, count)), ' ');
}

// Lines of at most a given width, most of them a label and what stands beside it.
class Page {
public:
    explicit Page(int width) : m_width(std::max(width, k_least_width)) {}

    int width() const { return m_width; }
    void line(const std::string& text) { m_text += text + "\n"; }

    // Each part goes on the line of the one before where it fits there.
    void row(const std::string& label, const std::vector<std::string>& parts) {
        const int room = m_width - k_value_column;
        std::vector<std::string> lines;
        for (const auto& part : parts) {
            if (part.empty()) continue;
            if (!lines.empty() && display_width(lines.back()) + 3 + display_width(part) <= room) {
                lines.back() += "   " + part;
                continue;
            }
            for (auto& wrapped : wrap(part, room))
                lines.push_back(std::move(wrapped));
        }
        labelled(label, lines);
    }

    void labelled(const std::string& label, const std::vector<std::string>& lines) {
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const std::string shown = i == 0 ? label : "";
            line("  " + shown + spaces(k_label_width - display_width(shown)) + lines[i]);
        }
    }

    std::string take() { return std::move(m_text); }

private:
    int m_width;
    std::string m_text;
};

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

void put_limit(Page& page, const InspectView& view) {
    const KeyReport& report = view.report;
    if (!report.rate) {
        // Pauses alone were meant only where a job has come with none.
        const bool came = report.started > 0 || !report.waiting.empty();
        page.row("rate", {came ? "none: pauses alone" : "no limit is known now", registered_text(view)});
        return;
    }
    const Rate& rate = *report.rate;
    std::string text = rate.with_burst(1)->text() + ", one every " + spacing_text(rate);
    if (rate.burst() > 1) text += ", up to " + count_text(rate.burst()) + " at once when idle";
    const bool busy = state_of(report) == KeyState::busy && count_in_line(report) > 0;
    const bool window_holds = rate.burst() > 1 && report.remaining == 0;
    const std::string holds = "<- holds the first";
    page.row("rate", {text, registered_text(view), busy && !window_holds ? holds : ""});
    page.row("window", {count_text(report.starts_in_window) + " of " + count_text(rate.allow()) + " in " +
                            period_text(rate.period()),
                        busy && window_holds ? holds : ""});
}

std::vector<std::string> waiting_lines(const std::vector<Waiter>& waiting, int width, bool everybody) {
    Column place{"place", {}, Align::right}, job{"job", {}, Align::left, 0, k_least_job},
        where{"where", {}, Align::left, 1}, waited{"waited", {}, Align::left, 2},
        starts{"starts in", {}, Align::left};
    std::size_t in_line = 0;
    while (in_line < waiting.size() && waiting[in_line].place == Place::in_line)
        ++in_line;
    const bool all = everybody || in_line <= k_shown_at_the_head + 2;
    for (std::size_t i = 0; i < in_line; ++i) {
        if (!all && i >= k_shown_at_the_head && i + 1 < in_line) continue;
        const WaiterName name = waiter_name_of(waiting[i].who);
        place.cells.push_back(std::to_string(i + 1));
        job.cells.push_back(name.job);
        where.cells.push_back(name.where);
        waited.cells.push_back(past_text(waiting[i].waited));
        starts.cells.push_back(is_for_ever(waiting[i].starts_in) ? "when resumed"
                                                                 : format_duration(waiting[i].starts_in));
    }
    std::vector<std::string> lines = table({place, job, where, waited, starts}, width);
    if (!all) {
        const std::string more = "   ... " +
                                 count_text(static_cast<std::int64_t>(in_line - k_shown_at_the_head - 1)) +
                                 " more (inspect --all)";
        lines.insert(lines.end() - 1, cut_to_width(more, width));
    }
    return lines;
}

void put_waiting(Page& page, const KeyReport& report, bool everybody) {
    const std::int64_t in_line = count_in_line(report);
    const auto late = static_cast<std::int64_t>(report.waiting.size()) - in_line;
    if (in_line == 0) {
        page.row("waiting", {"nobody"});
    } else if (page.width() >= k_narrow) {
        page.labelled("waiting", waiting_lines(report.waiting, page.width() - k_value_column, everybody));
    } else {
        page.row("waiting", {count_text(in_line)});
        for (const auto& line : waiting_lines(report.waiting, page.width() - 2, everybody))
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
        if (report.rate && in_line > 1)
            text += " one every " + spacing_text(*report.rate) + " in their order";
        const Duration last = report.waiting[static_cast<std::size_t>(in_line) - 1].starts_in;
        if (!is_for_ever(last)) {
            text += in_line > 1 ? ", the last about " : " about ";
            text += moment_text(view.now + last, {view.now, view.utc_offset_s});
        }
        page.row("then", {text});
    }
    const std::string undo = command_for("resume", view.key.bytes());
    if (display_width(undo) <= page.width() - k_value_column) page.row("undo", {undo});
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
    put_limit(page, view);
    put_waiting(page, view.report, view.everybody);
    if (paused) {
        put_then(page, view);
    } else {
        put_last_pause(page, view);
    }
    return page.take();
}

std::string waiting_text(const std::vector<Waiter>& waiting, int width) {
    std::string text;
    for (const auto& line : waiting_lines(waiting, std::max(width, k_least_width), false))
        text += line + "\n";
    return text;
}

}  // namespace jobthrottle
