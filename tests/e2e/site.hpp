// SPDX-License-Identifier: MIT
// A place where jobs run against a store of their own, and what they leave behind there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "precedence.hpp"
#include "standstill.hpp"
#include "support/cli.hpp"
#include "support/redis_server.hpp"

namespace jobthrottle::test {

enum class Where { local, redis };

// A sandbox whose store is local, or a Redis of its own. What this thread starts while it is there takes
// precedence over other work of the machine. REQUIRES: destroyed in the thread that made it.
class Site {
public:
    explicit Site(Where where);

    const Sandbox& sandbox() const { return m_sandbox; }
    RedisServer& redis() { return *m_redis; }                           // REQUIRES: Where::redis
    const StandstillWatch& standstill() const { return m_standstill; }  // since the site was made
    std::string file(std::string_view name) const { return m_sandbox.file(name); }
    std::string store_url() const { return m_redis ? m_redis->socket_url() : m_sandbox.store_url(); }

    // With the store chosen and two minutes to live.
    ProgramOptions options() const;
    // `jobthrottle` with these arguments.
    Argv command(const Argv& args) const { return m_sandbox.command(args); }
    Program start(const Argv& args) const { return Program(command(args), options()); }
    ProgramResult run(const Argv& args) const { return run_program(command(args), options()); }
    // A shell script that finds the program as $JT.
    ProgramResult shell(const std::string& script, ProgramOptions options) const;
    ProgramResult shell(const std::string& script) const { return shell(script, options()); }

    // A whole number that `inspect --json` gives for the key; -1 for a key that is not known. Throws when
    // inspect fails or has no such number.
    std::int64_t inspect(const std::string& key, const std::string& name) const;

    // A command that notes its name and the moment it starts; then runs `and_then`, a line of shell.
    Argv noting(const std::string& name, const std::string& and_then = "") const;
    struct Start {
        std::string name;
        BootTime at;  // to 10 ms, rounded down
    };
    // What those commands have noted up to now, the earliest first.
    std::vector<Start> starts() const;

private:
    Precedence m_precedence;
    StandstillWatch m_standstill;
    Sandbox m_sandbox;
    std::optional<RedisServer> m_redis;
};

std::vector<BootTime> times_of(const std::vector<Site::Start>& starts);
std::vector<std::string> sorted_names(const std::vector<Site::Start>& starts);
// "0" .. "count - 1", in the order of sorted_names().
std::vector<std::string> names_up_to(std::size_t count);

void sleep_for(Duration length);

}  // namespace jobthrottle::test
