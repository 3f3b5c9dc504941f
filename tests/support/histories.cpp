// SPDX-License-Identifier: MIT
#include "support/histories.hpp"

#include <rapidcheck.h>

#include <cstdlib>
#include <sstream>

namespace jobthrottle::testing {

namespace {

using namespace std::chrono_literals;
using Gene = std::vector<int>;  // numbers from 0 to 999; small ones mean little trouble

constexpr const char* k_limits[] = {"8/s",
                                    "1/s",
                                    "7/s",
                                    "4/s",
                                    "3/500ms",
                                    "40/s",
                                    "5/s,burst=5",
                                    "1/250ms",
                                    "1000/s",
                                    "60/min,burst=5",
                                    "1/40ms",
                                    "9/2s,burst=2",
                                    "2000/s,burst=7",
                                    "20/10s",
                                    "5/10s,burst=4"};
constexpr const char* k_plain_limits[] = {"8/s",  "1/s",    "7/s",     "4/s",   "3/500ms",
                                          "40/s", "1000/s", "1/250ms", "13/2s", "90/min"};

// For a history with attempts. No job there costs more than the least of them allows.
constexpr int k_most_cost = 3;
constexpr const char* k_attempt_limits[] = {"1 at once",
                                            "2 at once",
                                            "8/s, 3 at once",
                                            "8/s and 30/10s",
                                            "40/s and 5/500ms, 10 at once",
                                            "4/s, 1 at once",
                                            "3/s",
                                            "20/s,burst=20, 5 at once",
                                            "9000/min and 20/2s",
                                            "5 at once"};

Duration ms(int n) {
    return std::chrono::milliseconds{n};
}

template <std::size_t Count>
const char* pick(const char* const (&from)[Count], int gene) {
    return from[static_cast<std::size_t>(gene) % Count];
}

Duration lateness(const Gene& g) {
    if (g[1] < 300) return 0s;
    if (g[1] < 700) return ms((g[1] - 300) * 90 / 400);
    if (g[1] < 900) return ms((g[1] - 700) * 5);
    return ms((g[1] - 900) * 100);
}

SimJob mixed_job(const Gene& g, const HistoryKind& kind) {
    SimJob job;
    job.arrives = g[0] < 500 ? ms(0) : ms((g[0] - 500) * 10);
    if (kind.lost_replies && g[5] > 700) job.loses = 2 + g[5] % 3;
    if (!kind.trouble_with_jobs) return job;
    job.late = lateness(g);
    if (g[2] > 850) job.dies = job.arrives + ms((g[2] - 850) * 20);
    if (g[3] > 900) job.gives_up = job.arrives + ms((g[3] - 900) * 30);
    job.caller = g[4] > 800;
    return job;
}

// The genes beyond those of a mixed job.
void add_attempt(SimJob& job, const Gene& g) {
    job.holds = g[6] < 200 ? ms(0) : ms((g[6] - 200) * (g[6] % 5 == 0 ? 4 : 1));
    job.cost = g[7] < 600 ? 1 : 1 + g[7] % k_most_cost;
    static const std::vector<std::size_t> keys[] = {{0}, {1}, {0, 1}, {1, 0}};
    job.keys = keys[g[8] < 400 ? 0 : g[8] % 4];
}

std::optional<SimEvent> event(const Gene& g, const HistoryKind& kind) {
    SimEvent event;
    event.at = ms(g[1] * 10);
    switch (g[0] % 5) {
        case 0:
            event.what = SimTrouble::pause;
            event.length = ms(1000 + g[2] * 20);
            return kind.pauses ? std::optional{event} : std::nullopt;
        case 1:
            event.what = SimTrouble::resume;
            return kind.resumes ? std::optional{event} : std::nullopt;
        case 2:
            event.what = SimTrouble::step;
            event.length = g[2] % 3 == 0 ? Duration{1h} : g[2] % 3 == 1 ? Duration{-1h} : ms(g[2] - 500);
            return kind.steps ? std::optional{event} : std::nullopt;
        case 3:
            event.what = SimTrouble::limit;
            event.limit = kind.attempts ? pick(k_attempt_limits, g[2]) : pick(k_limits, g[2]);
            return kind.limits ? std::optional{event} : std::nullopt;
        default:
            event.what = SimTrouble::outage;
            event.length = ms(g[2] * 5);
            return kind.outages ? std::optional{event} : std::nullopt;
    }
}

SimPlan plan_of(const Gene& general, const std::vector<Gene>& jobs, const std::vector<Gene>& events,
                const HistoryKind& kind) {
    SimPlan plan;
    plan.seed = static_cast<std::uint64_t>(general[0]) + 1;
    plan.come_back = general[1] % 2 == 0 ? Duration{5s} : Duration{2s};
    plan.limit = kind.mixed ? pick(k_limits, general[2]) : pick(k_plain_limits, general[2]);
    if (kind.attempts) {
        plan.limit = pick(k_attempt_limits, general[2]);
        plan.more_limits = {pick(k_attempt_limits, general[0])};
        plan.sees_deaths = general[1] % 3 == 0;
        plan.lock_for = 20s;
    }
    for (const Gene& gene : jobs) {
        SimJob job = mixed_job(gene, kind);
        if (kind.attempts) add_attempt(job, gene);
        if (!kind.mixed) {
            job = SimJob{};
            job.late = rate(plan.limit).grant() * (gene[1] % 91) / 100;
        }
        plan.jobs.push_back(job);
    }
    for (const Gene& gene : events) {
        if (const auto trouble = event(gene, kind)) plan.events.push_back(*trouble);
    }
    return plan;
}

rc::Gen<Gene> genes(std::size_t count) {
    return rc::gen::container<Gene>(count, rc::gen::inRange(0, 1000));
}

int number_from(const char* variable, int otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::atoi(text);
}

}  // namespace

std::string describe(const SimPlan& plan) {
    std::ostringstream out;
    out << plan.limit;
    for (const auto& limit : plan.more_limits)
        out << "; " << limit;
    out << ", come back " << format_duration_exactly(plan.come_back) << ", seed " << plan.seed << "\n";
    for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
        const SimJob& job = plan.jobs[i];
        out << "  job " << i << " at " << format_duration_exactly(job.arrives) << ", late "
            << format_duration_exactly(job.late);
        if (job.dies) out << ", dies at " << format_duration_exactly(*job.dies);
        if (job.gives_up) out << ", gives up at " << format_duration_exactly(*job.gives_up);
        if (job.caller) out << ", a caller";
        if (job.cost > 1) out << ", costs " << job.cost;
        if (job.holds > Duration::zero()) out << ", holds " << format_duration_exactly(job.holds);
        if (job.keys != std::vector<std::size_t>{0}) {
            out << ", keys";
            for (const auto key : job.keys)
                out << " " << key;
        }
        if (job.loses > 0) out << ", loses each reply " << job.loses;
        out << "\n";
    }
    static constexpr const char* k_troubles[] = {"pause", "resume", "step", "limit", "outage"};
    for (const SimEvent& event : plan.events) {
        out << "  " << k_troubles[static_cast<std::size_t>(event.what)] << " at "
            << format_duration_exactly(event.at) << " of " << event.length.count() << " us " << event.limit
            << "\n";
    }
    return out.str();
}

std::string counterexample(const HistoryKind& kind, const Property& property) {
    rc::detail::TestParams params;
    params.seed = static_cast<std::uint64_t>(number_from("JOBTHROTTLE_TEST_SEED", 20'261'130));
    params.maxSuccess = number_from("JOBTHROTTLE_TEST_HISTORIES", 300);
    params.maxSize = 70;
    const auto result = rc::detail::checkTestable(
        [&] {
            const auto general = *genes(3);
            const auto jobs = *rc::gen::container<std::vector<Gene>>(genes(kind.attempts ? 9 : 6));
            const auto events = *rc::gen::scale(0.1, rc::gen::container<std::vector<Gene>>(genes(3)));
            const SimPlan plan = plan_of(general, jobs, events, kind);
            const std::string broken = property(plan);
            if (!broken.empty()) RC_FAIL(broken + "\n" + describe(plan));
        },
        rc::detail::TestMetadata{}, params);
    if (result.is<rc::detail::SuccessResult>()) return {};
    std::ostringstream out;
    rc::detail::printResultMessage(result, out);
    return out.str();
}

}  // namespace jobthrottle::testing
