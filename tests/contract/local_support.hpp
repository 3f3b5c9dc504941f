// SPDX-License-Identifier: MIT
// What the tests of the local store share. What goes wrong here throws std::runtime_error.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/local/local_store.hpp"
#include "support/temp_dir.hpp"

namespace jobthrottle::test {

Key key_named(const std::string& name);
Rate rate_of(std::int64_t allow, Duration period, std::int64_t burst = 1);
Terms terms_of(const Rate&);
Terms terms_of(std::vector<Rate>, std::optional<std::int64_t> concurrency);

// A question under a new id, which has no place in line but asks for a start.
Question question_at(const Rate& rate);
Question question_at(Terms);
// One that takes a place in a line where it cannot start: of a key with so many places and no rate.
Question question_in_line(TicketId place, std::int64_t concurrency = 1);

// The clocks and the boot of a machine, in a test's hands.
struct Machine {
    std::int64_t clock_us = 5'000'000'000;
    std::int64_t wall_us = 1'800'000'000'000'000;
    std::string boot = "first";
    LocalHooks hooks();  // this must outlive the store
    void advance(Duration d) { clock_us += d.count(), wall_us += d.count(); }
};

LocalOptions options_in(const std::string& folder);
std::unique_ptr<Store> open_store(const LocalOptions& options);
// One start asked for by a store of its own; throws when it is not given.
void start_once(const LocalOptions& options, const std::string& key = "k");

// All that an answer says, and all that a report says, for comparing.
std::string text_of(const Answer& answer);
std::string text_of(const Holder& holder);
std::string text_of(const KeyReport& report);

std::vector<std::string> files_in(const std::string& folder);
int count_torn(const std::string& folder);  // files set aside

// A child that runs `body` and exits with what it returns; 99 when it throws. Killed with the test.
pid_t start_child(const std::function<int()>& body);
// The exit code, or 128 + the signal that ended it. Throws, and kills it, after a minute.
int end_of(pid_t child);
int run_child(const std::function<int()>& body);

// A user that owns nothing, and nobody's group.
constexpr unsigned k_some_user = 65533, k_other_user = 65532, k_some_group = 64321;
// A folder in this one that k_some_group shares. REQUIRES: root
std::string make_shared_folder(const TempDir& parent);
// Becomes that user for good, with that group alone; throws when it may not.
void become(unsigned user, unsigned group);

}  // namespace jobthrottle::test
