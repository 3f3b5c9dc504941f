// SPDX-License-Identifier: MIT
// The folders of lib/ and cli/ depend on each other in one order only, and each third-party header is
// included in its one wrapper.
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"

namespace {

struct Include {
    std::string target;
    bool quoted = false;
};

using Edges = std::map<std::string, std::vector<std::string>, std::less<>>;

// What the files of a folder may include: patterns of fnmatch, where * matches / too.
const Edges k_edges = {
    {"base", {"base/*"}},
    {"core", {"base/*", "core/*"}},
    {"config", {"base/*", "core/*", "config/*"}},
    {"store", {"base/*", "core/*", "store/*"}},
    {"output", {"base/*", "core/*", "output/*"}},
    {"process", {"base/*", "process/*"}},
    {"run", {"base/*", "core/*", "process/*", "store/store.hpp", "run/*"}},
    {"cli", {"base/*", "core/*", "config/*", "store/*", "output/*", "process/*", "run/*", "cli/*"}},
};

// The files that may include a third-party header. The headers are told by how they begin.
const std::vector<std::pair<std::string, std::string>> k_wrappers = {
    {"hiredis", "lib/store/redis/connection*.cpp"},
    {"lmdb.h", "lib/store/local/*.cpp"},
    {"toml++", "lib/config/*.cpp"},
    {"toml.hpp", "lib/config/*.cpp"},
    {"CLI/", "cli/args*.cpp"},
    {"spdlog/", "cli/log.cpp"},
    {"nlohmann/", "lib/output/*.cpp"},
};

// core is pure: it reads no clock, environment or file, and does not log.
const std::vector<std::string> k_not_in_core = {"fcntl.h",  "filesystem", "fstream",
                                                "iostream", "sys/*",      "unistd.h"};

bool matches(const std::string& pattern, const std::string& text) {
    return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

bool matches_any(const std::vector<std::string>& patterns, const std::string& text) {
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](const std::string& pattern) { return matches(pattern, text); });
}

// "lib/core/x.cpp" is in core, "cli/x.cpp" in cli.
std::string folder_of(const std::string& file) {
    const std::string path = file.rfind("lib/", 0) == 0 ? file.substr(4) : file;
    return path.substr(0, path.find('/'));
}

std::optional<Include> parse_include(std::string_view line) {
    const auto skip = [&] { line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size())); };
    skip();
    if (line.empty() || line.front() != '#') return std::nullopt;
    line.remove_prefix(1);
    skip();
    if (line.rfind("include", 0) != 0) return std::nullopt;
    line.remove_prefix(7);
    skip();
    if (line.empty() || (line.front() != '"' && line.front() != '<')) return std::nullopt;
    const bool quoted = line.front() == '"';
    line.remove_prefix(1);
    return Include{std::string(line.substr(0, line.find_first_of("\">"))), quoted};
}

// Why `file` must not have this include, if it must not. `file` is relative to the sources.
std::optional<std::string> fault_of(const std::string& file, const Include& include) {
    for (const auto& [prefix, wrapper] : k_wrappers) {
        if (include.target.rfind(prefix, 0) != 0) continue;
        if (matches(wrapper, file)) return std::nullopt;
        return file + " includes " + include.target + ", which only " + wrapper + " may";
    }
    const std::string folder = folder_of(file);
    if (!include.quoted) {
        if (folder != "core" || !matches_any(k_not_in_core, include.target)) return std::nullopt;
        return file + " includes <" + include.target + ">, but core reads no clock, environment or file";
    }
    const auto allowed = k_edges.find(folder);
    if (allowed == k_edges.end()) return file + " is in a folder without a place in the order";
    if (include.target.find('/') == std::string::npos) return std::nullopt;  // beside it
    if (matches_any(allowed->second, include.target)) return std::nullopt;
    return file + " includes \"" + include.target + "\", against the order of the folders";
}

std::vector<std::string> source_files() {
    namespace fs = std::filesystem;
    std::vector<std::string> files;
    const fs::path root = JT_SOURCE_DIR;
    for (const char* top : {"lib", "cli"}) {
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / top)) {
            if (!entry.is_regular_file() || !matches("*.[ch]pp", entry.path().string())) continue;
            files.push_back(fs::relative(entry.path(), root).string());
        }
    }
    return files;
}

}  // namespace

TEST_CASE("layers: every include follows the order of the folders", "[unit]") {
    const std::vector<std::string> files = source_files();
    std::size_t includes = 0;
    for (const std::string& file : files) {
        std::ifstream in(std::filesystem::path(JT_SOURCE_DIR) / file);
        REQUIRE(in);
        for (std::string line; std::getline(in, line);) {
            const std::optional<Include> include = parse_include(line);
            if (!include) continue;
            ++includes;
            const std::optional<std::string> fault = fault_of(file, *include);
            INFO(fault.value_or(""));
            CHECK_FALSE(fault.has_value());
        }
    }
    CHECK(files.size() >= 5);
    CHECK(includes >= files.size());
}

TEST_CASE("layers: the check finds an include against the order", "[unit]") {
    const auto is_fault = [](const std::string& file, const std::string& line) {
        const std::optional<Include> include = parse_include(line);
        REQUIRE(include.has_value());
        return fault_of(file, *include).has_value();
    };
    CHECK(is_fault("lib/base/text.cpp", "#include \"core/key.hpp\""));
    CHECK(is_fault("lib/core/key.cpp", "#include \"store/store.hpp\""));
    CHECK(is_fault("lib/config/config.cpp", "#include \"store/open.hpp\""));
    CHECK(is_fault("lib/process/child.cpp", "  #  include \"core/key.hpp\"  // why"));
    CHECK(is_fault("lib/run/run.cpp", "#include \"store/open.hpp\""));
    CHECK(is_fault("lib/run/run.cpp", "#include \"store/redis/redis_store.hpp\""));
    CHECK(is_fault("lib/run/run.cpp", "#include \"config/config.hpp\""));
    CHECK(is_fault("lib/output/json.cpp", "#include \"cli/args.hpp\""));
    CHECK(is_fault("lib/core/key.cpp", "#include \"support/catch.hpp\""));
    CHECK(is_fault("lib/utils/strings.cpp", "#include \"base/text.hpp\""));
    CHECK(is_fault("lib/core/decide.cpp", "#include <sys/stat.h>"));
    CHECK(is_fault("lib/core/decide.cpp", "#include <fstream>"));

    CHECK_FALSE(is_fault("lib/core/key.cpp", "#include \"base/text.hpp\""));
    CHECK_FALSE(is_fault("lib/core/key.cpp", "#include <string>"));
    CHECK_FALSE(is_fault("lib/store/local/local_store.cpp", "#include \"store/store.hpp\""));
    CHECK_FALSE(is_fault("lib/run/run.cpp", "#include \"store/store.hpp\""));
    CHECK_FALSE(is_fault("cli/main.cpp", "#include \"run/run.hpp\""));
    CHECK_FALSE(is_fault("cli/main.cpp", "#include \"args.hpp\""));
}

TEST_CASE("layers: the check finds a third-party header outside its wrapper", "[unit]") {
    const auto is_fault = [](const std::string& file, const std::string& target, bool quoted = false) {
        return fault_of(file, {target, quoted}).has_value();
    };
    CHECK(is_fault("lib/store/redis/redis_store.cpp", "hiredis/hiredis.h"));
    CHECK(is_fault("lib/store/redis/connection.hpp", "hiredis/hiredis.h"));
    CHECK(is_fault("lib/store/redis/redis_store.cpp", "hiredis/hiredis.h", true));
    CHECK(is_fault("lib/store/open.cpp", "lmdb.h"));
    CHECK(is_fault("lib/core/rate.cpp", "toml++/toml.h"));
    CHECK(is_fault("cli/main.cpp", "CLI/CLI.hpp"));
    CHECK(is_fault("lib/run/run.cpp", "spdlog/spdlog.h"));
    CHECK(is_fault("cli/main.cpp", "nlohmann/json.hpp"));

    CHECK_FALSE(is_fault("lib/store/redis/connection.cpp", "hiredis/hiredis.h"));
    CHECK_FALSE(is_fault("lib/store/redis/connection_tls.cpp", "hiredis/hiredis_ssl.h"));
    CHECK_FALSE(is_fault("lib/store/local/environment.cpp", "lmdb.h"));
    CHECK_FALSE(is_fault("lib/config/file.cpp", "toml++/toml.h"));
    CHECK_FALSE(is_fault("cli/args_run.cpp", "CLI/CLI.hpp"));
    CHECK_FALSE(is_fault("cli/log.cpp", "spdlog/spdlog.h"));
    CHECK_FALSE(is_fault("lib/output/json.cpp", "nlohmann/json.hpp"));
}
