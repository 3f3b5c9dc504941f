// SPDX-License-Identifier: MIT
#include "core/registration.hpp"

#include "base/text.hpp"

namespace jobthrottle {

namespace {

// The number in front, and the space behind it.
std::optional<std::int64_t> take_number(std::string_view& bytes) {
    const auto space = bytes.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    const auto number = parse_whole_number(bytes.substr(0, space));
    bytes.remove_prefix(space + 1);
    return number;
}

std::optional<Rate> take_rate(std::string_view& bytes) {
    const auto allow = take_number(bytes);
    const auto period = allow ? take_number(bytes) : std::nullopt;
    const auto burst = period ? take_number(bytes) : std::nullopt;
    const auto window = burst ? take_number(bytes) : std::nullopt;
    if (!window) return std::nullopt;
    return Rate::restore(*allow, *period, *burst, *window);
}

}  // namespace

std::string encode(const Registration& registration) {
    const Terms& terms = registration.terms;
    std::string text = std::to_string(registration.at_s) + " " +
                       std::to_string(terms.concurrency().value_or(0)) + " " +
                       std::to_string(terms.given().size());
    for (const Rate& rate : terms.given()) {
        for (const std::int64_t number :
             {rate.allow(), rate.period().count(), rate.burst(), rate.window_burst()})
            text += " " + std::to_string(number);
    }
    return text + " " + registration.who;
}

std::optional<Registration> decode_registration(std::string_view bytes) {
    const auto at_s = take_number(bytes);
    const auto concurrency = at_s ? take_number(bytes) : std::nullopt;
    const auto count = concurrency ? take_number(bytes) : std::nullopt;
    if (!count || *count > static_cast<std::int64_t>(Terms::k_most_rates)) return std::nullopt;
    std::vector<Rate> rates;
    for (std::int64_t i = 0; i < *count; ++i) {
        const auto rate = take_rate(bytes);
        if (!rate) return std::nullopt;
        rates.push_back(*rate);
    }
    auto terms = Terms::make(std::move(rates), *concurrency > 0 ? concurrency : std::nullopt);
    if (!terms || terms->empty()) return std::nullopt;
    return Registration{std::move(*terms), *at_s, std::string(bytes)};
}

}  // namespace jobthrottle
