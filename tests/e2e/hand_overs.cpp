// SPDX-License-Identifier: MIT
#include "hand_overs.hpp"

#include <algorithm>
#include <stdexcept>

#include "crowd.hpp"
#include "probes.hpp"
#include "site.hpp"

namespace jobthrottle::test {
namespace {

using namespace std::chrono_literals;

Argv under(Keeper keeper, const Site& site, const Argv& command) {
    Argv argv;
    switch (keeper) {
        case Keeper::local:
        case Keeper::redis:
            argv = site.command({"run", "-k", "k", "-j", "1", "-w", "forever", "--"});
            break;
        case Keeper::flock:
            argv = {"flock", site.file("lock")};
            break;
        case Keeper::sem:
            argv = {"sem", "--fg", "--id", "k", "-j", "1"};
            break;
    }
    argv.insert(argv.end(), command.begin(), command.end());
    return argv;
}

}  // namespace

Duration HandOvers::median() const {
    std::vector<Duration> sorted = took;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? Duration::zero() : sorted[sorted.size() / 2];
}

Duration HandOvers::most() const {
    return took.empty() ? Duration::zero() : *std::max_element(took.begin(), took.end());
}

HandOvers measure_hand_overs(Keeper keeper, Duration hold, std::size_t count) {
    const Site site(keeper == Keeper::redis ? Where::redis : Where::local);
    ProbeLog log(site.sandbox().path());
    ProgramOptions options = site.options();
    options.timeout = 1min + hold * static_cast<std::int64_t>(count + 1);
    Crowd crowd;
    HandOvers found;
    const Duration patience = 1min + hold;
    for (std::size_t i = 0; i <= count; ++i) {
        const std::string name = std::to_string(i);
        const Duration its_hold = i == count ? Duration::zero() : hold;
        crowd.add(Program(under(keeper, site, log.command({name, its_hold, 1})), options));
        crowd.watch_until([&] { return log.find(name).has_value(); }, patience);
    }
    for (const ProgramResult& result : crowd.finish()) {
        if (result.code != 0) throw std::runtime_error("a hand-over failed: " + describe(result));
    }
    found.overlapped = log.count_over() > 0;
    const std::vector<Probed>& probes = log.read();
    for (std::size_t i = 1; i < probes.size(); ++i)
        found.took.push_back(probes[i].began - probes[i - 1].ended.value());
    found.standstill = site.standstill().longest();
    return found;
}

}  // namespace jobthrottle::test
