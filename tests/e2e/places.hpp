// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "crowd.hpp"
#include "probes.hpp"
#include "site.hpp"

namespace jobthrottle::test {

// Jobs that run probes on the places of one key, `k`, of a site of their own.
class Places {
public:
    Places(Where where, int count, Argv options);

    Site& site() { return m_site; }
    ProbeLog& log() { return m_log; }
    Crowd& crowd() { return m_crowd; }

    struct Job {
        std::size_t index = 0;  // in crowd()
        std::string name;
    };
    // Starts a job; `more` are options of its own.
    Job start(const Probe& probe, const Argv& more = {});
    // The same, and returns when its command has begun or it stands in line.
    Job start_to_run(const Probe& probe, const Argv& more = {});
    Job start_to_wait(const Probe& probe, const Argv& more = {});

    Program& wrapper(const Job& job) { return m_crowd.at(job.index); }
    bool has_begun(const Job& job) { return m_log.find(job.name).has_value(); }
    // Of its command. REQUIRES: it has begun.
    pid_t command(const Job& job) { return m_log.find(job.name).value().pid; }
    BootTime began(const Job& job) { return m_log.find(job.name).value().began; }
    // Waits for it; throws after `limit`.
    BootTime wait_begun(const Job& job, Duration limit = std::chrono::seconds{60});
    void wait_ended(pid_t command);

private:
    Site m_site;
    ProbeLog m_log;
    Crowd m_crowd;
    int m_count;
    Argv m_options;
};

}  // namespace jobthrottle::test
