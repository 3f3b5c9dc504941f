// SPDX-License-Identifier: MIT
#include "probes.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "base/text.hpp"

namespace jobthrottle::test {

Argv ProbeLog::command(const Probe& probe) const {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(probe.hold).count();
    Argv argv = {JT_E2E_PROBE, probe.name, m_folder + "/probes", std::to_string(ms)};
    if (probe.places > 0) argv.insert(argv.end(), {m_folder + "/places", std::to_string(probe.places)});
    if (probe.ignores_term) argv.emplace_back("ignore-term");
    if (probe.fails) argv.emplace_back("fail");
    return argv;
}

void ProbeLog::take_line(const std::string& line) {
    std::istringstream words(line);
    std::string name, what;
    pid_t pid = 0;
    std::int64_t us = 0;
    if (!(words >> name >> pid >> what >> us)) throw std::runtime_error("not a line of a probe: " + line);
    const BootTime at{Duration{us}};
    if (what != "ended") {
        m_probes.push_back({name, pid, at, std::nullopt, what == "over"});
        return;
    }
    const auto probe = std::find_if(m_probes.rbegin(), m_probes.rend(),
                                    [&](const Probed& one) { return one.pid == pid && one.name == name; });
    if (probe == m_probes.rend()) throw std::runtime_error("a probe ended that has not begun: " + line);
    probe->ended = at;
}

const std::vector<Probed>& ProbeLog::read() {
    std::ifstream file(m_folder + "/probes");
    file.seekg(static_cast<std::streamoff>(m_read));
    for (std::string line; std::getline(file, line) && !file.eof();) {
        m_read += line.size() + 1;
        take_line(line);
    }
    return m_probes;
}

std::optional<Probed> ProbeLog::find(const std::string& name) {
    read();
    const auto probe =
        std::find_if(m_probes.begin(), m_probes.end(), [&](const Probed& one) { return one.name == name; });
    return probe == m_probes.end() ? std::nullopt : std::optional<Probed>(*probe);
}

std::size_t ProbeLog::count_over() {
    read();
    return static_cast<std::size_t>(
        std::count_if(m_probes.begin(), m_probes.end(), [](const Probed& one) { return one.over; }));
}

bool has_ended(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
    return file.peek() == std::ifstream::traits_type::eof();
}

}  // namespace jobthrottle::test
