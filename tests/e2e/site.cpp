// SPDX-License-Identifier: MIT
#include "site.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "base/text.hpp"

namespace jobthrottle::test {
namespace {

using namespace std::chrono_literals;

// "123.45", as /proc/uptime has it.
BootTime parse_uptime(const std::string& text) {
    const std::vector<std::string_view> parts = split(text, '.');
    if (parts.size() != 2) throw std::runtime_error("no time since boot: " + text);
    const auto whole = parse_whole_number(parts[0]);
    const auto hundredths = parse_whole_number(parts[1]);
    if (!whole || !hundredths) throw std::runtime_error("no time since boot: " + text);
    return BootTime{std::chrono::seconds{*whole} + 10ms * *hundredths};
}

}  // namespace

Site::Site(Where where) {
    if (where == Where::redis) m_redis.emplace();
}

ProgramOptions Site::options() const {
    ProgramOptions options = m_sandbox.options();
    options.env["JOBTHROTTLE_STORE"] = store_url();
    options.env["JT"] = program_path();
    options.timeout = 2min;
    return options;
}

ProgramResult Site::shell(const std::string& script, ProgramOptions options) const {
    return run_program({"bash", "-c", script}, std::move(options));
}

std::int64_t Site::inspect(const std::string& key, const std::string& name) const {
    const ProgramResult result = run({"inspect", "--json", key});
    if (result.out.find("\"known\":false") != std::string::npos) return -1;
    const std::string field = "\"" + name + "\":";
    const std::size_t at = result.out.find(field);
    if (result.code != 0 || at == std::string::npos)
        throw std::runtime_error("inspect gives no " + name + ": " + describe(result));
    const std::string rest = result.out.substr(at + field.size());
    const auto number = parse_whole_number(rest.substr(0, rest.find_first_not_of("0123456789")));
    if (!number) throw std::runtime_error("inspect gives no number as " + name + ": " + result.out);
    return *number;
}

Argv Site::noting(const std::string& name, const std::string& and_then) const {
    // No process and no wall clock is needed for the time, and one short write is never torn.
    return {"sh", "-c", "read -r up rest </proc/uptime; echo \"$0 $up\" >>\"$1\"; " + and_then, name,
            file("starts")};
}

std::vector<Site::Start> Site::starts() const {
    std::vector<Start> found;
    if (!std::filesystem::exists(file("starts"))) return found;
    std::istringstream lines(read_file(file("starts")));
    for (std::string name, up; lines >> name >> up;)
        found.push_back({name, parse_uptime(up)});
    std::stable_sort(found.begin(), found.end(), [](const Start& a, const Start& b) { return a.at < b.at; });
    return found;
}

std::vector<BootTime> times_of(const std::vector<Site::Start>& starts) {
    std::vector<BootTime> times;
    for (const Site::Start& start : starts)
        times.push_back(start.at);
    return times;
}

std::vector<std::string> sorted_names(const std::vector<Site::Start>& starts) {
    std::vector<std::string> names;
    for (const Site::Start& start : starts)
        names.push_back(start.name);
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<std::string> names_up_to(std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i)
        names.push_back(std::to_string(i));
    std::sort(names.begin(), names.end());
    return names;
}

void sleep_for(Duration length) {
    std::this_thread::sleep_for(length);
}

}  // namespace jobthrottle::test
