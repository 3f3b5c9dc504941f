// SPDX-License-Identifier: MIT
// Everything that a store says, named: for comparing and for reading.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace jobthrottle::test {

std::string text_of(const Answer&);
std::string text_of(const std::vector<Answer>&);
std::string text_of(const PauseAnswer&);
std::string text_of(const LeaseAnswer&);
std::string text_of(const SettleAnswer&);
std::string text_of(const std::vector<Holder>&);
std::string text_of(const KeyReport&);
std::string text_of(const ForgetAnswer&);
std::string text_of(const std::optional<Registration>&);
std::string text_of(const std::vector<KeySummary>&);

// What a store said to a call, all of it.
template <typename T>
std::string said(const Result<T>& result) {
    return result ? text_of(*result) : "error: " + result.error().message;
}
std::string said(const Result<void>&);
std::string said(const Result<bool>&);

}  // namespace jobthrottle::test
