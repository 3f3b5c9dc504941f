// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "cli/args_table.hpp"

namespace jobthrottle {

// An option and its value; a switch has an empty one.
using Word = std::pair<Opt, std::string>;

// The words of one command, told apart but not yet understood.
struct Words {
    std::vector<Word> options;  // in the order in which they stand
    std::vector<std::string> positionals;

    bool has(Opt) const;
    const std::string* last(Opt) const;  // its last value; null: not given. Borrowed
    std::vector<std::string> all(Opt) const;
};

// Tells options, their values and positionals apart: "--rate 8/s", "--rate=8/s", "-r 8/s", "-r8/s", "-nq". A
// value may begin with a dash and may be empty. Error (usage): an option that this command does not have,
// with the nearest that it has; a value that is missing or one too many.
Result<Words> read_words(const CommandRow& command, const std::vector<std::string>& own);

// Whether the next word is the value of this one: "--rate", "-r" and "-nr" want one, "-r8/s" has it.
bool wants_value(const CommandRow& command, const std::string& word);

// What the user typed, in quotes, as a message shows it: escaped, and not all of it where it is long.
std::string in_quotes(std::string_view text);

// "--tries 'x': want WANTED, for example --tries 3".
Error wrong_value(Opt id, std::string_view value, const std::string& wanted);

}  // namespace jobthrottle
