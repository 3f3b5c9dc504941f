// SPDX-License-Identifier: MIT
#include "output/job_tables.hpp"

#include "core/duration.hpp"
#include "output/columns.hpp"
#include "output/wall_clock.hpp"
#include "output/wording.hpp"

namespace jobthrottle {

namespace {

constexpr int k_least_job = 12;  // columns that a cut name keeps
constexpr std::size_t k_shown_at_the_head = 9;

// How the lease stands: "renewed 8 s ago", "57 s left", "lost 12 s ago".
std::string lease_text(const Holder& holder) {
    if (!holder.held) return "lost " + past_text(-holder.left) + " ago";
    // Its process is seen to live, so that it does not end by time.
    if (holder.left <= Duration::zero()) return "while it lives";
    const bool was_renewed = holder.renewed + std::chrono::milliseconds{100} < holder.age;
    return was_renewed ? "renewed " + past_text(holder.renewed) + " ago" : past_text(holder.left) + " left";
}

}  // namespace

std::vector<std::string> waiting_lines(const std::vector<Waiter>& waiting, int width, bool everybody,
                                       bool forecasts) {
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
    std::vector<Column> columns{place, job, where, waited};
    if (forecasts) columns.push_back(starts);
    std::vector<std::string> lines = table(std::move(columns), width);
    if (!all) {
        const std::string more = "   ... " +
                                 count_text(static_cast<std::int64_t>(in_line - k_shown_at_the_head - 1)) +
                                 " more (inspect --all)";
        lines.insert(lines.end() - 1, cut_to_width(more, width));
    }
    return lines;
}

std::vector<std::string> holding_lines(const std::vector<Holder>& holding, int width) {
    Column job{"job", {}, Align::left, 0, k_least_job}, where{"where", {}, Align::left, 1},
        since{"since", {}, Align::left, 3}, lease{"lease", {}, Align::left, 2};
    for (const Holder& holder : holding) {
        const WaiterName name = waiter_name_of(holder.who);
        job.cells.push_back(name.job);
        where.cells.push_back(name.where);
        since.cells.push_back(past_text(holder.age));
        lease.cells.push_back(lease_text(holder));
    }
    return table({job, where, since, lease}, width);
}

}  // namespace jobthrottle
