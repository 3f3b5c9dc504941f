// SPDX-License-Identifier: MIT
#include "chaos.hpp"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

namespace jobthrottle::test {
namespace {

using namespace std::chrono_literals;

constexpr Duration k_look_every = 10ms;
constexpr Duration k_hurt_every = 30ms;
// Well below the shortest lease, a third of which it is renewed in.
constexpr Duration k_stopped_for = 300ms;
constexpr std::size_t k_served_to_the_end = 5;  // of each key

std::string folder_of(const Site& site, const std::string& key) {
    std::string folder = site.file("of-" + key);
    std::filesystem::create_directory(folder);
    return folder;
}

}  // namespace

Chaos::Chaos(Where where, std::vector<ChaosKey> keys, std::size_t jobs_of_each, unsigned seed)
    : m_site(where), m_keys(std::move(keys)), m_jobs_of_each(jobs_of_each), m_random(seed) {
    for (const ChaosKey& key : m_keys)
        m_logs.emplace(key.name, ProbeLog(folder_of(m_site, key.name)));
}

std::size_t Chaos::below(std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(m_random);
}

void Chaos::start_one(const ChaosKey& key) {
    const std::string name = std::to_string(m_started++);
    Argv args = {"run", "-k", key.name, "-w", "forever"};
    args.insert(args.end(), key.options.begin(), key.options.end());
    args.emplace_back("--");
    const Duration hold = 1ms * static_cast<std::int64_t>(below(100));
    const Argv command = m_logs.at(key.name).command({name, hold, key.places});
    args.insert(args.end(), command.begin(), command.end());
    ProgramOptions options = m_site.options();
    options.timeout = 10min;
    m_jobs.push_back({Program(m_site.command(args), options), key.name, name, false, false, BootTime::max()});
}

void Chaos::fill_up() {
    for (const ChaosKey& key : m_keys) {
        const auto alive =
            std::count_if(m_jobs.begin(), m_jobs.end(), [&](const Job& job) { return job.key == key.name; });
        for (auto i = static_cast<std::size_t>(alive); i < m_jobs_of_each; ++i)
            start_one(key);
    }
}

Chaos::Job& Chaos::any_job() {
    return *std::next(m_jobs.begin(), static_cast<std::ptrdiff_t>(below(m_jobs.size())));
}

// Of a job that runs, for few of the many do.
void Chaos::hurt_command() {
    const ChaosKey& key = m_keys.at(below(m_keys.size()));
    for (const Probed& probe : m_logs.at(key.name).read()) {
        if (probe.ended || has_ended(probe.pid)) continue;
        const auto job = std::find_if(m_jobs.begin(), m_jobs.end(), [&](const Job& one) {
            return one.key == key.name && one.name == probe.name;
        });
        if (job == m_jobs.end()) continue;
        job->hurt = true;
        const std::size_t what = below(3);
        if (what != 0) job->program.kill(SIGKILL);  // the wrapper of one that runs
        if (what != 1) kill(probe.pid, SIGKILL);
        return;
    }
}

void Chaos::hurt_one() {
    const std::size_t what = below(10);
    if (what < 4) return hurt_command();
    Job& job = any_job();
    job.hurt = true;
    if (what < 7) {
        job.program.kill(SIGKILL);
        ++m_killed;
    } else if (what < 8) {
        job.program.kill(SIGTERM);
    } else if (job.thaw_at == BootTime::max()) {
        job.program.kill(SIGSTOP);
        job.thaw_at = BootClock::now() + k_stopped_for;
    }
}

void Chaos::look_after_all() {
    std::vector<pollfd> fds;
    for (const Job& job : m_jobs)
        job.program.add_poll_fds(fds);
    poll(fds.data(), fds.size(), static_cast<int>(k_look_every / 1ms));
    for (auto job = m_jobs.begin(); job != m_jobs.end();) {
        if (BootClock::now() >= job->thaw_at) {
            job->program.thaw();
            job->thaw_at = BootTime::max();
        }
        job->program.service();
        if (!job->program.ended()) {
            ++job;
            continue;
        }
        m_ended.push_back({job->key, job->hurt, job->program.wait()});
        job = m_jobs.erase(job);
    }
}

void Chaos::rage(Duration length) {
    const BootTime until = BootClock::now() + length;
    BootTime next_hurt = BootClock::now() + 1s;
    while (BootClock::now() < until) {
        fill_up();
        look_after_all();
        if (BootClock::now() < next_hurt) continue;
        next_hurt = BootClock::now() + k_hurt_every;
        hurt_one();
    }
}

void Chaos::calm_down() {
    // One after the other, so that each has the time to give its ticket back.
    for (bool some = true; some;) {
        std::map<std::string, std::size_t> served;
        const auto job = std::find_if(m_jobs.begin(), m_jobs.end(), [&](const Job& one) {
            return !one.told_to_go && served[one.key]++ >= k_served_to_the_end;
        });
        some = job != m_jobs.end();
        if (some) {
            job->hurt = job->told_to_go = true;
            job->program.kill(SIGTERM);
        }
        look_after_all();
    }
    while (!m_jobs.empty())
        look_after_all();
}

}  // namespace jobthrottle::test
