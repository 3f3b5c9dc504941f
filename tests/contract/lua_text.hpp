// SPDX-License-Identifier: MIT
// What two stores said, as text in which all that can differ does.
#pragma once

#include <string>
#include <string_view>

#include "core/attempts.hpp"
#include "core/decide.hpp"
#include "core/report.hpp"

namespace jobthrottle::test {

std::string text_of(const Answer&);
std::string text_of(const LeaseAnswer&);
std::string text_of(const SettleAnswer&);
std::string text_of(const PauseAnswer&);
std::string text_of(const Holder&);
std::string text_of(const KeyReport&);

std::string hex(std::string_view bytes);
// Both, where they are not the same.
std::string differ(const std::string& what, const std::string& memory, const std::string& redis);

}  // namespace jobthrottle::test
