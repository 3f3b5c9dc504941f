// SPDX-License-Identifier: MIT
#include "cli/ending.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <map>

#include "base/text.hpp"
#include "cli/machine.hpp"
#include "cli/print.hpp"
#include "process/process_runner.hpp"

namespace jobthrottle {

int Ending::of(const RunResult& result, const std::string& program) {
    const bool ran_before = result.attempts > 0;
    if (const auto* ran = std::get_if<Ran>(&result.outcome)) return of(*ran, program);
    if (const auto* throttled = std::get_if<Throttled>(&result.outcome)) return of(*throttled, ran_before);
    if (const auto* refused = std::get_if<RefusedForGood>(&result.outcome))
        return of(*refused, result.refusals);
    if (const auto* interrupted = std::get_if<Interrupted>(&result.outcome)) return of(*interrupted);
    if (const auto* unjudged = std::get_if<Unjudged>(&result.outcome)) return of(*unjudged);
    return of(std::get<Error>(result.outcome), ran_before);
}

int Ending::of(const Interrupted& interrupted) {
    m_died_of = interrupted.signal;
    return 128 + interrupted.signal;
}

int Ending::of(const Ran& ran, const std::string& program) {
    const auto* died = std::get_if<Signaled>(&ran.end);
    if (died != nullptr) m_died_of = died->signal;
    const int code = exit_code_of(ran.end);
    const std::string name = escape_for_display(program);
    if (std::holds_alternative<NotFound>(ran.end)) {
        m_teller.tell(say_error(internal_error(name + ": command not found")));
    } else if (const auto* refused = std::get_if<NotExecutable>(&ran.end)) {
        m_teller.tell(say_error(internal_error(name + ": " + std::strerror(refused->error))));
    } else if (ran.output_error != 0) {
        m_teller.tell(say_output_lost(ran.output_error));
        // What the command itself would have been told, had it written there.
        if (code == 0) return exit_code_of(ErrorKind::internal);
    }
    return code;
}

int Ending::of(const Throttled& throttled, bool ran_before) {
    ThrottledView view{
        throttled.key, throttled.answer, throttled.wait, throttled.waited, {}, {}, local_now(), 75, false};
    view.max_wait = m_common.settings.max_wait.value;
    view.note = m_teller.pause_note(throttled.key, throttled.answer);
    view.exit_code = throttled_exit();
    view.ran_before = ran_before;
    switch (throttled.why) {
        case Throttled::Why::no_wait:
            m_teller.tell(say_not_now(view));
            break;
        case Throttled::Why::too_long:
            m_teller.tell(say_too_long(view));
            break;
        case Throttled::Why::waited_out:
            m_teller.tell(say_waited_out(view));
            break;
        case Throttled::Why::crowded:
            m_teller.tell(say_crowded(view, m_limit.max_waiting.value_or(0)));
            break;
    }
    return throttled_exit();
}

int Ending::of(const RefusedForGood& refused, int refusals) {
    const RefusalView view{m_gate.paused_key(), refused.note, refused.pause, local_now()};
    switch (refused.why) {
        case RefusedForGood::Why::rerun_never:
            m_teller.tell(say_rerun_never(view, throttled_exit()));
            break;
        case RefusedForGood::Why::max_refusals:
            m_teller.tell(say_max_refusals(view, refusals, throttled_exit()));
            break;
        case RefusedForGood::Why::half_read_input:
            m_teller.tell(say_half_read_input(view, throttled_exit()));
            break;
    }
    return throttled_exit();
}

int Ending::of(const Unjudged& unjudged) {
    m_teller.tell(line_of(unjudged));
    return exit_code_of(ErrorKind::config);
}

Line Ending::line_of(const Unjudged& unjudged) {
    const Key& key = unjudged.key;
    const Claim& claim = m_limit.of(key);
    switch (unjudged.answer.kind) {
        case AnswerKind::conflict:
            return say_conflict(key, claim.terms, unjudged.answer, m_teller.registration(key));
        case AnswerKind::too_costly:
            return say_too_costly(key, claim.cost, unjudged.answer, m_teller.registration(key));
        case AnswerKind::nested:
            return say_nested(key);
        default:
            break;
    }
    const auto known = m_gate.store().inspect(key);
    return say_no_limit(key, known ? known->terms : Terms{}, nearest_keys(m_gate.store(), key));
}

int Ending::of(const Error& error, bool ran_before) {
    const int code = exit_code_of(error.kind);
    const bool of_store = error.kind == ErrorKind::unavailable || error.kind == ErrorKind::refused;
    m_teller.tell(of_store ? say_store_unusable(m_gate.store().name(), error, ran_before, code)
                           : say_error(error));
    return code;
}

int exit_as(const Ended& ended) {
    if (ended.signal == SIGINT && has_controlling_terminal()) die_of(SIGINT);
    return ended.code;
}

namespace {

// How far a key is from the one that was typed, where it may be the one that was meant: but for case, by a
// slip of the fingers, or with something at the end that the other does not have.
std::optional<std::size_t> how_far(const std::string& typed, const std::string& known) {
    constexpr std::size_t k_least_beginning = 4;
    const std::string a = to_lower(typed);
    const std::string b = to_lower(known);
    const std::size_t distance = edit_distance(a, b);
    if (nearest_word(a, {b})) return distance;
    const std::size_t common = std::min(a.size(), b.size());
    const bool begins_alike =
        common >= k_least_beginning && edit_distance(a.substr(0, common), b.substr(0, common)) <= 1;
    return begins_alike ? std::optional(distance) : std::nullopt;
}

}  // namespace

std::vector<std::string> nearest_keys(Store& store, const Key& key) {
    constexpr std::size_t k_most = 3;
    const auto known = store.keys("*");
    if (!known) return {};
    std::multimap<std::size_t, std::string> by_distance;
    for (const auto& summary : *known) {
        const std::string& name = summary.key.bytes();
        if (summary.key == key) continue;
        if (const auto distance = how_far(key.bytes(), name)) by_distance.emplace(*distance, name);
    }
    std::vector<std::string> nearest;
    for (const auto& [distance, name] : by_distance) {
        if (nearest.size() < k_most) nearest.push_back(name);
    }
    return nearest;
}

}  // namespace jobthrottle
