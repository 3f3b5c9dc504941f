// SPDX-License-Identifier: MIT
#include "lua_text.hpp"

namespace jobthrottle::test {

namespace {

// All that can differ, also what makes no difference where one rate paces.
std::string text_of(const Terms& terms) {
    std::string out = "[" + std::to_string(terms.concurrency().value_or(0));
    for (const Rate& rate : terms.given())
        out += ", " + rate.text() + "," + std::to_string(rate.window_burst());
    return out + "]";
}

std::string text_of(const std::optional<Terms>& terms) {
    return terms ? text_of(*terms) : "none";
}

std::string numbers(std::initializer_list<std::int64_t> list) {
    std::string out;
    for (const std::int64_t number : list)
        out += " " + std::to_string(number);
    return out;
}

std::string text_of(const Waiter& waiter) {
    return "\nwaits" +
           numbers({static_cast<std::int64_t>(waiter.id), static_cast<int>(waiter.place), waiter.number,
                    waiter.caller ? 1 : 0, waiter.waited.count(), waiter.starts_in.count(),
                    waiter.asks_in.count(), waiter.cost, waiter.offered ? 1 : 0}) +
           " " + hex(waiter.who);
}

}  // namespace

std::string hex(std::string_view bytes) {
    static constexpr char k_digits[] = "0123456789abcdef";
    std::string out;
    for (const char c : bytes) {
        out += k_digits[static_cast<unsigned char>(c) >> 4];
        out += k_digits[static_cast<unsigned char>(c) & 15];
    }
    return out;
}

std::string differ(const std::string& what, const std::string& memory, const std::string& redis) {
    if (memory == redis) return {};
    return what + " differs\nmemory: " + memory + "\nredis:  " + redis + "\n";
}

std::string text_of(const Holder& holder) {
    return "\nholds" +
           numbers({static_cast<std::int64_t>(holder.id), holder.held ? 1 : 0, holder.place ? 1 : 0,
                    holder.age.count(), holder.left.count(), holder.renewed.count(), holder.cost}) +
           " " + hex(holder.who);
}

std::string text_of(const KeyReport& report) {
    std::string out = text_of(report.terms) +
                      numbers({report.known ? 1 : 0, report.places, report.available_in.count(),
                               report.paused_for.count(), report.paused_for_ever ? 1 : 0,
                               report.paused_by_hand ? 1 : 0, report.last_start_age_us, report.started});
    for (const auto& limit : report.limits)
        out += "\n" + limit.rate.text() + numbers({limit.starts, limit.remaining});
    for (const auto& waiter : report.waiting)
        out += text_of(waiter);
    for (const auto& holder : report.holding)
        out += text_of(holder);
    return out;
}

std::string text_of(const Answer& a) {
    return "kind " + std::to_string(static_cast<int>(a.kind)) + " why " +
           std::to_string(static_cast<int>(a.why)) +
           numbers({a.wait.count(), a.earliest.count(), a.ahead, a.number, a.waited.count(), a.birth_us,
                    a.paused_for.count(), a.paused_by_hand ? 1 : 0, a.leased ? 1 : 0, a.wake, a.places,
                    a.waiting}) +
           " " + text_of(a.terms) + " " + text_of(a.registered) + " " + text_of(a.other);
}

std::string text_of(const LeaseAnswer& a) {
    return std::to_string(static_cast<int>(a.state)) + numbers({a.lost_for.count()});
}

std::string text_of(const SettleAnswer& a) {
    return std::to_string(static_cast<int>(a.state)) + numbers({a.cost_before});
}

std::string text_of(const PauseAnswer& a) {
    return std::to_string(a.left.count()) + (a.forever ? " for ever" : "") + (a.changed ? " changed" : "");
}

}  // namespace jobthrottle::test
