// SPDX-License-Identifier: MIT
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "run/run.hpp"

namespace jobthrottle {

namespace {

std::string cost_key_of(const Gate& gate) {
    for (const auto& claim : gate.claims()) {
        if (claim.settles) return claim.key.bytes();
    }
    return "";
}

std::string leases_of(const Gate& gate, const Admitted& admitted) {
    std::string list;
    const auto add = [&list](StartId start) { list += (list.empty() ? "" : ",") + token_of(start); };
    for (const auto ancestor : gate.ancestors())
        add(ancestor);
    if (!admitted.leases.empty()) add(admitted.start);
    return list;
}

}  // namespace

std::string token_of(StartId start) {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016" PRIx64, start);
    return digits;
}

std::optional<StartId> start_of_token(std::string_view token) {
    const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    if (token.size() != 16 || !std::all_of(token.begin(), token.end(), is_digit)) return std::nullopt;
    StartId start = 0;
    std::from_chars(token.data(), token.data() + token.size(), start, 16);
    return start;
}

std::vector<std::pair<std::string, std::string>> environment_of(const RunPlan& plan, int attempt,
                                                                const Gate& gate, const Admitted& admitted) {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%.3f", std::chrono::duration<double>(gate.waited()).count());
    std::vector<std::pair<std::string, std::string>> variables{
        {"JOBTHROTTLE_KEY", gate.key().bytes()},
        {"JOBTHROTTLE_TICKET", token_of(admitted.start)},
        {"JOBTHROTTLE_ATTEMPT", std::to_string(attempt)},
        {"JOBTHROTTLE_WAITED", seconds},
        {"JOBTHROTTLE_STORE", plan.store_url}};
    const auto cost_key = cost_key_of(gate);
    // That of a run around this one must not stand beside our start.
    if (!cost_key.empty() || std::getenv("JOBTHROTTLE_COST_KEY") != nullptr)
        variables.emplace_back("JOBTHROTTLE_COST_KEY", cost_key);
    const auto leases = leases_of(gate, admitted);
    if (!leases.empty()) variables.emplace_back("JOBTHROTTLE_LEASES", leases);
    return variables;
}

}  // namespace jobthrottle
