// SPDX-License-Identifier: MIT
// What the keys of one job decide together.
#include <algorithm>
#include <optional>

#include "core/asking.hpp"

namespace jobthrottle {

namespace {

constexpr Duration k_shortest_retry = std::chrono::milliseconds{1};

// How long until every key lets it start; nothing where that is too far for one of them to grant.
std::optional<Duration> common_start(const std::vector<Asking>& keys) {
    Duration in{};
    for (const auto& key : keys) {
        if (!key.starts()) return std::nullopt;
        in = std::max(in, key.start_in());
    }
    const bool granted = std::all_of(keys.begin(), keys.end(),
                                     [&](const Asking& key) { return key.repeated() || in <= key.grant(); });
    return granted ? std::optional<Duration>{in} : std::nullopt;
}

void line_up(std::vector<Asking>& keys, Duration again) {
    const Question& question = keys.front().question();
    const bool crowded =
        std::any_of(keys.begin(), keys.end(), [](const Asking& key) { return key.is_crowded(); });
    if (crowded) {
        for (auto& key : keys)
            key.tell(key.is_crowded() ? AnswerKind::crowded : AnswerKind::wait, again);
        return;
    }
    // Only the keys that hold it up longest stand in the line of those who wait; where one would let it start
    // sooner by more than a late runner is forgiven, it is like a caller that comes when it can.
    const auto is_away = [&](const Asking& key) {
        return keys.size() > 1 && (key.starts() || key.again_in() + k_late < again);
    };
    Duration told = again;
    for (const auto& key : keys) {
        if (!is_away(key) && (!question.caller || key.never_ends())) told = std::min(told, key.check_in());
    }
    for (auto& key : keys)
        key.take_place(told, is_away(key) ? std::optional<Duration>{again} : std::nullopt);
}

}  // namespace

void decide_together(std::vector<Asking>& keys) {
    const Taking taking = keys.front().question().taking;
    if (std::any_of(keys.begin(), keys.end(), [](const Asking& key) { return key.refused(); })) return;
    if (keys.front().question().hold && keys.front().starts() && !keys.front().repeated()) {
        keys.front().hold();
        return;
    }
    if (const auto in = common_start(keys)) {
        for (auto& key : keys) {
            if (taking == Taking::nothing) {
                key.tell(AnswerKind::start, *in);
            } else {
                key.take_start(key.repeated() ? key.start_in() : *in);
            }
        }
        return;
    }
    // Keys that would all start, but one sooner than the other: then it asks when all may grant the last.
    Duration again = keys.size() > 1 ? k_shortest_retry : Duration::zero();
    Duration grant = k_late;
    for (const auto& key : keys) {
        if (key.starts() && !key.repeated()) grant = std::min(grant, key.grant());
    }
    for (const auto& key : keys)
        again = std::max(again, key.starts() ? key.start_in() - grant : key.again_in());
    if (taking == Taking::place) {
        line_up(keys, again);
        return;
    }
    for (auto& key : keys)
        key.tell(AnswerKind::wait, again);
}

}  // namespace jobthrottle
