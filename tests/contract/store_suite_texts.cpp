// SPDX-License-Identifier: MIT
#include "contract/store_suite_texts.hpp"

#include <array>

#include "base/text.hpp"
#include "support/desk.hpp"

namespace jobthrottle::test {

namespace {

std::string number(std::int64_t n) {
    return std::to_string(n);
}

std::string us(Duration d) {
    return std::to_string(d.count());
}

std::string text_of(const Terms& terms) {
    return "[" + terms.text() + "]";
}

std::string text_of(const std::optional<Terms>& terms) {
    return terms ? text_of(*terms) : "none";
}

std::string text_of(const Waiter& waiter) {
    static constexpr std::array<const char*, 3> k_places = {"in line", "out", "away"};
    return "\n    " + std::to_string(waiter.id) + " " + k_places[static_cast<std::size_t>(waiter.place)] +
           " number " + number(waiter.number) + (waiter.caller ? " caller" : "") +
           (waiter.offered ? " offered" : "") + " cost " + number(waiter.cost) + " waited " +
           us(waiter.waited) + " starts in " + us(waiter.starts_in) + " asks in " + us(waiter.asks_in) + " " +
           escape_for_display(waiter.who);
}

std::string text_of(const Holder& holder) {
    return "\n    lease " + std::to_string(holder.id) + (holder.held ? " held" : " lost") +
           (holder.place ? " with a place" : "") + " cost " + number(holder.cost) + " age " + us(holder.age) +
           " left " + us(holder.left) + " renewed " + us(holder.renewed) + " " +
           escape_for_display(holder.who);
}

template <typename T>
std::string texts_of(const std::vector<T>& all) {
    std::string text;
    for (const auto& one : all)
        text += text_of(one);
    return text;
}

}  // namespace

std::string text_of(const Answer& a) {
    static constexpr std::array<const char*, 7> k_kinds = {"start",      "wait",   "no limit", "conflict",
                                                           "too costly", "nested", "crowded"};
    static constexpr std::array<const char*, 4> k_causes = {"rate", "paused", "line", "lease"};
    return std::string(k_kinds.at(static_cast<std::size_t>(a.kind))) + " wait " + us(a.wait) + " earliest " +
           us(a.earliest) + " why " + k_causes.at(static_cast<std::size_t>(a.why)) + " ahead " +
           number(a.ahead) + " number " + number(a.number) + " waited " + us(a.waited) + " birth " +
           number(a.birth_us) + " paused for " + us(a.paused_for) + (a.paused_by_hand ? " by hand" : "") +
           (a.leased ? " leased" : "") + " wake " + number(a.wake) + " places " + number(a.places) +
           " waiting " + number(a.waiting) + " terms " + text_of(a.terms) + " registered " +
           text_of(a.registered) + " other " + text_of(a.other);
}

std::string text_of(const std::vector<Answer>& answers) {
    std::string text;
    for (const auto& answer : answers)
        text += "\n  " + text_of(answer);
    return text;
}

std::string text_of(const PauseAnswer& a) {
    return "left " + us(a.left) + (a.forever ? " for ever" : "") + (a.changed ? " changed" : "");
}

std::string text_of(const LeaseAnswer& a) {
    return testing::say(a.state) + " lost for " + us(a.lost_for);
}

std::string text_of(const SettleAnswer& a) {
    return testing::say(a.state) + " cost before " + number(a.cost_before);
}

std::string text_of(const std::vector<Holder>& holders) {
    return "holders" + texts_of(holders);
}

std::string text_of(const std::optional<Registration>& registration) {
    return registration ? encode(*registration) : "none";
}

std::string text_of(const KeyReport& r) {
    std::string text = (r.known ? "known registered " : "unknown registered ") + text_of(r.registration) +
                       " terms " + text_of(r.terms);
    for (const auto& limit : r.limits) {
        text += " of " + limit.rate.text() + " started " + number(limit.starts) + " remaining " +
                number(limit.remaining);
    }
    return text + " places " + number(r.places) + " available in " + us(r.available_in) + " paused for " +
           us(r.paused_for) + (r.paused_for_ever ? " for ever" : "") + (r.paused_by_hand ? " by hand" : "") +
           " note " + (r.note ? escape_for_display(encode(*r.note)) : "none") + " last start " +
           number(r.last_start_age_us) + " started " + number(r.started) + texts_of(r.waiting) +
           texts_of(r.holding);
}

std::string text_of(const ForgetAnswer& a) {
    return std::string(a.forgotten ? "forgotten" : "left alone") + (a.known ? ", known" : ", unknown") +
           texts_of(a.waiting) + texts_of(a.holding);
}

std::string text_of(const std::vector<KeySummary>& keys) {
    std::string text;
    for (const auto& one : keys)
        text += "\n  [" + one.key.shown() + "] " + text_of(one.report);
    return text;
}

std::string said(const Result<void>& result) {
    return result ? "done" : "error: " + result.error().message;
}

std::string said(const Result<bool>& result) {
    return result ? *result ? "yes" : "no" : "error: " + result.error().message;
}

}  // namespace jobthrottle::test
