// SPDX-License-Identifier: MIT
#include "places.hpp"

namespace jobthrottle::test {

Places::Places(Where where, int count, Argv options)
    : m_site(where), m_log(m_site.sandbox().path()), m_count(count), m_options(std::move(options)) {}

Places::Job Places::start(const Probe& probe, const Argv& more) {
    Argv args = {"run", "-k", "k", "-j", std::to_string(m_count), "-w", "forever"};
    args.insert(args.end(), m_options.begin(), m_options.end());
    args.insert(args.end(), more.begin(), more.end());
    args.emplace_back("--");
    Probe counted = probe;
    counted.places = m_count;
    const Argv command = m_log.command(counted);
    args.insert(args.end(), command.begin(), command.end());
    m_crowd.add(m_site.start(args));
    return {m_crowd.size() - 1, probe.name};
}

Places::Job Places::start_to_run(const Probe& probe, const Argv& more) {
    const Job job = start(probe, more);
    wait_begun(job);
    return job;
}

Places::Job Places::start_to_wait(const Probe& probe, const Argv& more) {
    const std::int64_t before = m_site.inspect("k", "waiting");
    const Job job = start(probe, more);
    m_crowd.watch_until([&] { return m_site.inspect("k", "waiting") == before + 1; });
    return job;
}

BootTime Places::wait_begun(const Job& job, Duration limit) {
    m_crowd.watch_until([&] { return has_begun(job); }, limit);
    return began(job);
}

void Places::wait_ended(pid_t command) {
    m_crowd.watch_until([&] { return has_ended(command); });
}

}  // namespace jobthrottle::test
