// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

// The commands and options of the program, in one table that parsing and help both read.
namespace jobthrottle {

enum class Opt {
    key,
    rate,
    allow,
    every,
    burst,
    concurrency,
    lock_for,
    cost,
    count,
    pause_only,
    override_registered,
    pause_key,
    max_wait,
    no_wait,
    max_waiting,
    throttled_exit,
    notice_after,
    ticket,
    ticket_for,
    follow,
    peek,
    tries,
    backoff,
    rerun,
    max_refusals,
    pause_on_exit,
    on_lease_lost,
    scan,
    max_pause,
    default_pause,
    until,
    retry_after,
    reason,
    replace,
    force,
    all,
    all_leases,
    dead,
    failed,
    json,
    name,
    store,
    prefix,
    on_store_error,
    store_patience,
    connect_timeout,
    command_timeout,
    quiet,
    verbose,
    help,
};

enum class Group { limit, waiting, repeating, what, store, other };

struct OptionRow {
    Opt id;
    Group group;
    std::string_view letter;  // "-k" or ""
    std::string_view name;    // "--key"
    std::string_view value;   // what its value is called; "" for a switch
    std::string_view help;
    std::string_view example = {};  // of a value
};

struct CommandRow {
    std::string_view name;
    std::string_view usage;  // after the name
    std::string_view about;
    std::span<const Opt> options;
    bool takes_command = false;  // after --
    std::string_view examples = {};
    std::string_view more = {};  // to know besides
};

// What others call it, and what it is called here.
struct OtherName {
    std::string_view typed;
    std::string_view here;
};

// What this version does not have: an option of a later one, and what to say besides.
struct LaterRow {
    std::string_view name;
    std::string_view letter = {};
    std::string_view instead = {};
};

std::span<const CommandRow> command_table();
std::span<const OptionRow> option_table();
std::span<const OtherName> other_option_names();
std::span<const OtherName> other_command_names();
std::span<const LaterRow> later_options();
std::span<const std::string_view> later_commands();

const OptionRow& row_of(Opt);
const CommandRow* find_command(std::string_view name);  // null: there is none
// By "--key" or "-k"; null where the command has no such option.
const OptionRow* find_option(const CommandRow&, std::string_view word);

}  // namespace jobthrottle
