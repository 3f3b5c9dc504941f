// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "store/redis/script_calls.hpp"
#include "store/redis/script_runner.hpp"
#include "store/store.hpp"

namespace jobthrottle {

// What the records that were looked at say. Error (refused): they are not ours or of a newer version.
Result<KeyReport> report_of(const Key&, const Inspected&, const std::string& prefix);

// Store::keys(). `notice` is told, in one line, what had to be left out.
Result<std::vector<KeySummary>> list_keys(ScriptRunner&, const ScriptSetting&, const std::string& pattern,
                                          const std::function<void(const std::string&)>& notice);

}  // namespace jobthrottle
