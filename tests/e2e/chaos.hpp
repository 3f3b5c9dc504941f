// SPDX-License-Identifier: MIT
#pragma once

#include <list>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "crowd.hpp"
#include "probes.hpp"
#include "site.hpp"

namespace jobthrottle::test {

// A key of the chaos: what its jobs ask, and what must hold for their starts.
struct ChaosKey {
    struct Window {
        std::size_t most = 0;
        Duration period{};
    };
    std::string name;
    Argv options;
    int places = 0;  // 0: none are counted
    std::vector<Window> windows;
};

// Keeps many jobs alive on a few keys while it kills, stops and interrupts some of them at random.
class Chaos {
public:
    Chaos(Where, std::vector<ChaosKey>, std::size_t jobs_of_each, unsigned seed);

    void rage(Duration length);
    // Those that still wait are told to go, but for some that are served to the end; returns when all are
    // gone. Checks nothing.
    void calm_down();

    Site& site() { return m_site; }
    const std::vector<ChaosKey>& keys() const { return m_keys; }
    // The probes of one key.
    ProbeLog& log(const std::string& key) { return m_logs.at(key); }

    struct Ended {
        std::string key;
        bool hurt = false;  // something was done to it or its command
        ProgramResult result;
    };
    const std::vector<Ended>& ended() const { return m_ended; }
    std::size_t killed() const { return m_killed; }

private:
    struct Job {
        Program program;
        std::string key;
        std::string name;
        bool hurt = false;
        bool told_to_go = false;
        BootTime thaw_at = BootTime::max();
    };
    void start_one(const ChaosKey&);
    void fill_up();
    void hurt_one();
    void hurt_command();
    void look_after_all();
    std::size_t below(std::size_t bound);
    Job& any_job();

    Site m_site;
    std::vector<ChaosKey> m_keys;
    std::size_t m_jobs_of_each;
    std::mt19937 m_random;
    std::map<std::string, ProbeLog> m_logs;
    std::list<Job> m_jobs;
    std::vector<Ended> m_ended;
    std::size_t m_started = 0;
    std::size_t m_killed = 0;
};

}  // namespace jobthrottle::test
