// SPDX-License-Identifier: MIT
#include "core/registration.hpp"

#include <array>

#include "base/text.hpp"

namespace jobthrottle {

std::string encode(const Registration& registration) {
    const Rate& rate = registration.rate;
    return std::to_string(rate.allow()) + " " + std::to_string(rate.period().count()) + " " +
           std::to_string(rate.burst()) + " " + std::to_string(registration.at_s) + " " + registration.who;
}

std::optional<Registration> decode_registration(std::string_view bytes) {
    std::array<std::int64_t, 4> numbers{};
    for (auto& number : numbers) {
        const auto space = bytes.find(' ');
        if (space == std::string_view::npos) return std::nullopt;
        const auto parsed = parse_whole_number(bytes.substr(0, space));
        if (!parsed) return std::nullopt;
        number = *parsed;
        bytes.remove_prefix(space + 1);
    }
    const auto rate = Rate::make(numbers[0], Duration{numbers[1]}, numbers[2]);
    if (!rate) return std::nullopt;
    return Registration{*rate, numbers[3], std::string(bytes)};
}

}  // namespace jobthrottle
