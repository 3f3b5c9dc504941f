// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "output/messages.hpp"

namespace jobthrottle {

// One line on standard error, laid out for a terminal or for a file.
void say(const Line& line);
// Text as it is, on standard error.
void say_raw(std::string_view text);
bool error_is_terminal();

// The result of a command on standard output. False: it could not be written, which is said.
bool print(std::string_view text);
bool output_is_terminal();
int output_width();  // columns; 80 where standard output is no terminal
int error_width();

// Says the error; gives the exit code that belongs to it: 64, 69, 78 or 125.
int exit_with(const Error& error);
int exit_code_of(ErrorKind kind);

}  // namespace jobthrottle
