// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>

#include "support/line_simulation.hpp"

// Random histories for properties, by RapidCheck: it shrinks one that breaks a property to a small one.
namespace jobthrottle::testing {

// What may happen in the histories.
struct HistoryKind {
    bool trouble_with_jobs = true;  // deaths, cancellations, callers, returns up to ten seconds late
    bool lost_replies = true;
    bool pauses = true;
    bool resumes = true;
    bool steps = true;  // of the clock, an hour both ways and less
    bool limits = true;
    bool outages = true;
    // Otherwise all come at once, to a limit without a burst, up to nine tenths of a grant late.
    bool mixed = true;
    // Attempts that take time and cost more than one, on limits of all kinds, several at once, of two keys.
    bool attempts = false;
};

// What is wrong with a history, empty where nothing is.
using Property = std::function<std::string(const SimPlan&)>;

// The smallest history found that breaks the property, described; empty where none was found. Seeds are
// fixed; JOBTHROTTLE_TEST_HISTORIES=N asks for so many histories, and JOBTHROTTLE_TEST_SEED=N for others.
std::string counterexample(const HistoryKind&, const Property&);

std::string describe(const SimPlan&);

}  // namespace jobthrottle::testing
