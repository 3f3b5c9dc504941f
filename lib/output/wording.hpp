// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/decide.hpp"
#include "core/rate.hpp"
#include "core/report.hpp"
#include "core/terms.hpp"
#include "output/wall_clock.hpp"

// Turns of phrase that several texts share. What they return is escaped.
namespace jobthrottle {

std::string count_text(std::int64_t);   // "8,204"
std::string period_text(Duration);      // "60 s", "1h", "90 s"
std::string spacing_text(const Rate&);  // "750 ms": one start every so long, about
std::string past_text(Duration);        // as format_duration, rounded down: what is over is not overstated
std::int64_t ceil_ms(Duration);         // rounded up
std::int64_t ceil_seconds(Duration);    // rounded up

// "user@host:pid" taken apart; what is missing is empty.
struct Person {
    std::string user;
    std::string host;
};
Person person_of(std::string_view who);

// "NAME user@host:pid" taken apart.
struct WaiterName {
    std::string job;
    std::string where;
};
WaiterName waiter_name_of(std::string_view who);

// "HTTP 429, Retry-After: 1800, seen by gh on ci-07", or for a pause by hand "deploy, by dev on box", as far
// as the note says so; may be empty.
std::string evidence_text(const PauseNote&);

// " by ops@db1", or empty where that is not known.
std::string by_whom(const std::optional<Registration>&);

// One word of a shell command, quoted where that is needed; bytes that are no printable ASCII as $'\xNN'.
std::string shell_word(std::string_view bytes);

std::string rates_text(const Terms&);  // "10/s and 500/min", without what may run at once; may be empty
// " -r 10/s -r 500/min -j 4": what one would type for these, each with a space before it.
std::string limit_options(const Terms&);

// All places of the key are taken or for those ahead, or those under way may yet fill its window: nobody
// knows for how long.
bool held_by_leases(const Answer&);

// "jobthrottle resume github", as one would type it.
std::string command_for(const std::string& command, const std::string& key_bytes,
                        const std::string& options = {});

}  // namespace jobthrottle
