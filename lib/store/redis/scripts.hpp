// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace jobthrottle {

// A Lua script and the name that Redis knows it by once it has seen it.
struct Script {
    std::string sha1;
    std::string text;
};

// Each file in scripts/ says what it takes and gives.
const Script& script_decide();
const Script& script_inspect();

}  // namespace jobthrottle
