// SPDX-License-Identifier: MIT
// Catch2 2.13 and 3 under one name. Matchers: use Catch::Matchers::ContainsSubstring, StartsWith, EndsWith.
#pragma once

#ifdef JT_CATCH2_V3
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
namespace Catch::Matchers {
inline auto ContainsSubstring(const std::string& text) {
    return Contains(text);
}
}  // namespace Catch::Matchers
#endif
