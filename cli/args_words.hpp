// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "cli/args_table.hpp"

namespace jobthrottle {

// The words of one command, told apart but not yet understood.
struct Words {
    std::vector<std::pair<Opt, std::string>> options;  // a switch has an empty value
    std::vector<std::string> positionals;

    bool has(Opt) const;
    const std::string* last(Opt) const;  // its last value; null: not given. Borrowed
};

// Tells options, their values and positionals apart: "--rate 8/s", "--rate=8/s", "-r 8/s", "-r8/s", "-nq". A
// value may begin with a dash and may be empty. Error (usage): an option that this command does not have,
// with the nearest that it has; a value that is missing or one too many; a second one of an option that
// stands once.
Result<Words> read_words(const CommandRow& command, const std::vector<std::string>& own);

// Whether the next word is the value of this one: "--rate", "-r" and "-nr" want one, "-r8/s" has it.
bool wants_value(const CommandRow& command, const std::string& word);

// What the user typed, in quotes, as a message shows it: escaped, and not all of it where it is long.
std::string in_quotes(std::string_view text);

}  // namespace jobthrottle
