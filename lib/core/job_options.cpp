// SPDX-License-Identifier: MIT
#include "core/job_options.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "core/duration.hpp"

namespace jobthrottle {

namespace {

Duration part_of(Duration whole, double part) {
    return Duration{
        static_cast<std::int64_t>(static_cast<double>(whole.count()) * std::clamp(part, 0.0, 1.0))};
}

}  // namespace

Result<Backoff> parse_backoff(std::string_view text) {
    Backoff backoff;
    const auto range = text.find("..");
    if (range != std::string_view::npos) {
        const auto first = parse_duration(text.substr(0, range));
        const auto most = parse_duration(text.substr(range + 2));
        if (!first || !most || *first > *most) {
            return usage_error("'" + escape_for_display(text.substr(0, 60)) +
                               "': want a range, a list or one wait, for example 1s..60s, 1s,10s,60s or 5s");
        }
        backoff.first = *first;
        backoff.most = *most;
        return backoff;
    }
    for (const auto part : split(text, ',')) {
        const auto wait = parse_duration(part);
        if (!wait) {
            return usage_error("'" + escape_for_display(text.substr(0, 60)) +
                               "': want a range, a list or one wait, for example 1s..60s, 1s,10s,60s or 5s");
        }
        backoff.list.push_back(*wait);
    }
    return backoff;
}

Duration backoff_after(const Backoff& backoff, int failed, double draw) {
    if (!backoff.list.empty()) {
        return backoff.list[std::min(static_cast<std::size_t>(failed), backoff.list.size()) - 1];
    }
    Duration wait = backoff.first;
    for (int i = 1; i < failed && wait < backoff.most; ++i)
        wait *= 2;
    return part_of(std::min(wait, backoff.most), draw);
}

Next next_step(const JobOptions& options, AttemptOutcome end, int failed, int refusals, bool http_client) {
    switch (end) {
        case AttemptOutcome::succeeded:
        case AttemptOutcome::not_started:
            return Next::finish;
        case AttemptOutcome::failed:
            return failed < options.tries ? Next::back_off : Next::finish;
        case AttemptOutcome::refused_with_success:
            // It may have done its work and only printed a refusal it lived with: not to be done twice
            // unasked.
            if (options.rerun != Rerun::always && !http_client) return Next::finish;
            break;
        case AttemptOutcome::refused:
            break;
    }
    if (options.rerun == Rerun::never) return Next::give_up;
    if (options.max_refusals && refusals >= *options.max_refusals) return Next::give_up;
    return Next::line_up;
}

bool is_http_client(std::string_view program) {
    const auto slash = program.rfind('/');
    const std::string_view name = slash == std::string_view::npos ? program : program.substr(slash + 1);
    for (const std::string_view client : {"curl", "wget", "http", "https", "xh", "gh"}) {
        if (name == client) return true;
    }
    return false;
}

OnStoreError resolve_policy(OnStoreError wanted, bool with_concurrency) {
    if (wanted != OnStoreError::automatic) return wanted;
    return with_concurrency ? OnStoreError::closed : OnStoreError::local;
}

Duration ask_again_after(int failures, double draw) {
    Duration wait = std::chrono::milliseconds{200};
    for (int i = 1; i < failures && wait < std::chrono::seconds{5}; ++i)
        wait *= 2;
    wait = std::min<Duration>(wait, std::chrono::seconds{5});
    return std::max<Duration>(std::chrono::milliseconds{200}, part_of(wait, 0.5 + draw / 2));
}

}  // namespace jobthrottle
