// SPDX-License-Identifier: MIT
// A command line understood, where the environment says no more than the test wants.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "cli/args.hpp"
#include "support/catch.hpp"

namespace jobthrottle::test {

using Strings = std::vector<std::string>;

inline Surroundings surroundings(const char* lock_for = nullptr) {
    return {[lock_for](const char* name) -> const char* {
                return std::string(name) == "JOBTHROTTLE_LOCK_FOR" ? lock_for : nullptr;
            },
            WallTime{std::chrono::seconds{1'796'040'000}}, [](WallTime) { return 3600; }};
}

inline Result<Options> parse(const Strings& words, const char* lock_for = nullptr) {
    return parse_args(words, surroundings(lock_for));
}

template <typename T>
T parsed(const Strings& words, const char* lock_for = nullptr) {
    const auto options = parse(words, lock_for);
    if (!options) FAIL(options.error().message);
    REQUIRE(std::holds_alternative<T>(*options));
    return std::get<T>(*options);
}

// What is wrong with it, in one line.
inline std::string fault_of(const Strings& words) {
    const auto options = parse(words);
    REQUIRE_FALSE(options.ok());
    CHECK(options.error().kind == ErrorKind::usage);
    CHECK(options.error().message.find('\n') == std::string::npos);
    return options.error().message;
}

}  // namespace jobthrottle::test
