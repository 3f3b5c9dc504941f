// SPDX-License-Identifier: MIT
// The first commands of the README print what the README says they print, but for times, numbers and names.
#include <fstream>
#include <regex>
#include <sstream>
#include <vector>

#include "base/text.hpp"
#include "support/catch.hpp"
#include "support/cli.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;

namespace {

struct Example {
    std::string command;
    std::string output;
};

std::string readme() {
    std::ifstream file(JT_SOURCE_DIR "/README.md");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

// The block that the heading is followed by: "$ COMMAND" and what it prints, several times.
std::vector<Example> examples_under(const std::string& heading) {
    const std::string text = readme();
    const auto section = text.find("\n## " + heading + "\n");
    const auto fence = text.find("```", section);
    if (section == std::string::npos || fence == std::string::npos) return {};
    const auto begin = text.find('\n', fence) + 1;
    std::vector<Example> examples;
    for (const auto line :
         split(std::string_view(text).substr(begin, text.find("\n```", begin) - begin), '\n')) {
        if (line.substr(0, 2) == "$ ") {
            examples.push_back({std::string(line.substr(2)), ""});
        } else if (!examples.empty()) {
            examples.back().output += std::string(line) + "\n";
        }
    }
    return examples;
}

std::string normalised(std::string text) {
    const std::pair<const char*, const char*> k_rules[] = {
        {R"(  store +[^\n]*\n)", "  store STORE\n"},
        {R"([^\s@]+@[^\s@]+)", "WHO"},
        {R"((\d+ [A-Z][a-z]{2} )?\d\d:\d\d(:\d\d(\.\d+)?)?)", "TIME"},
        {R"(\d+(\.\d+)?)", "N"},
        {R"([ \t]+)", " "},
        {R"( (?=\n))", ""},
    };
    for (const auto& [pattern, with] : k_rules)
        text = std::regex_replace(text, std::regex(pattern), with);
    return text;
}

}  // namespace

TEST_CASE("readme: the first commands print what it says", "[cli]") {
    const auto examples = examples_under("First commands");
    REQUIRE(examples.size() == 3);
    const Sandbox sandbox;
    ProgramOptions options = sandbox.options();
    const std::string program = program_path();
    options.env["PATH"] = program.substr(0, program.rfind('/')) + ":/usr/local/bin:/usr/bin:/bin";
    options.err_to_out = true;
    for (const auto& example : examples) {
        INFO(example.command);
        const ProgramResult result = run_program({"sh", "-c", example.command}, options);
        INFO(describe(result));
        CHECK(result.status() == 0);
        CHECK(normalised(result.out) == normalised(example.output));
    }
}

TEST_CASE("readme: every exit code of ours is told", "[cli]") {
    const std::string text = readme();
    for (const char* code : {"64", "69", "75", "78", "125", "126, 127"}) {
        INFO(code);
        CHECK(text.find("| " + std::string(code) + " |") != std::string::npos);
    }
}
