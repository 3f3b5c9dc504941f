// SPDX-License-Identifier: MIT
// What the README and doc/refusals.md say is so: the first commands print what it says they print, but for
// times, numbers and names; no exit code or variable is forgotten; the curls pause a key as the table has it.
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <vector>

#include "base/text.hpp"
#include "config/settings.hpp"
#include "support/catch.hpp"
#include "support/cli.hpp"
#include "support/http_server.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;

namespace {

struct Example {
    std::string command;
    std::string output;
};

std::string document(const std::string& name) {
    std::ifstream file(JT_SOURCE_DIR "/" + name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string readme() {
    return document("README.md");
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

struct Form {
    std::string command;
    std::string pause;  // the second cell
};

// The curls of the table of clients, one row each.
std::vector<Form> curl_forms() {
    const std::string text = document("doc/refusals.md");
    std::vector<Form> forms;
    for (const auto line : split(text, '\n')) {
        const auto cells = split(line, '|');
        if (cells.size() != 4 || trim(cells[1]).substr(0, 5) != "`curl") continue;
        const auto parts = split(cells[1], '`');
        for (std::size_t i = 1; i < parts.size(); i += 2)
            forms.push_back({std::string(parts[i]), std::string(trim(cells[2]))});
    }
    return forms;
}

void check_form(const Form& form) {
    INFO(form.command);
    const HttpServer provider([](const HttpRequest&) {
        return HttpAnswer{429, {"Retry-After: 2"}, "slow down\n"};
    });
    const Sandbox sandbox;
    const std::string script = form.command + " " + provider.url();
    const ProgramResult result =
        sandbox.run({"run", "-k", "acme", "-r", "1/h", "--rerun", "never", "--", "sh", "-c", script});
    INFO(describe(result));
    CHECK(provider.records().size() == 1);
    const auto pause = nlohmann::json::parse(sandbox.run({"inspect", "acme", "--json"}).out)["pause"];
    INFO(pause.dump());
    if (form.pause.substr(0, 4) == "none") {
        CHECK(pause.is_null());
        return;
    }
    REQUIRE(pause.is_object());
    const bool with_delay = form.pause == "2 s";
    CHECK((with_delay || form.pause == "60 s, by its error line"));
    CHECK(pause["summary"] == (with_delay ? "HTTP 429, Retry-After: 2" : "said by curl"));
}

}  // namespace

TEST_CASE("readme: the first commands print what it says", "[cli]") {
    const auto examples = examples_under("First commands");
    REQUIRE(examples.size() == 4);
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

TEST_CASE("readme: every variable is told", "[cli]") {
    const std::string text = readme();
    for (const auto& [option, variable] : setting_names()) {
        INFO(variable);
        CHECK(text.find("`" + std::string(variable) + "`") != std::string::npos);
        const bool told = text.find("`" + std::string(option) + "`") != std::string::npos;
        CHECK((option.empty() || told));
    }
    for (const char* given : {"KEY", "TICKET", "ATTEMPT", "WAITED", "COST_KEY", "LEASES"}) {
        INFO(given);
        CHECK(text.find("`JOBTHROTTLE_" + std::string(given) + "`") != std::string::npos);
    }
}

TEST_CASE("readme: each curl of doc/refusals.md pauses a key as it says there", "[cli]") {
    const auto forms = curl_forms();
    CHECK(forms.size() >= 10);
    for (const Form& form : forms)
        check_form(form);
}

TEST_CASE("readme: the quiet curl of doc/refusals.md is run again after the delay that was asked", "[cli]") {
    const std::string text = document("doc/refusals.md");
    const std::string marker = "    jobthrottle run ";
    const auto begin = text.find(marker);
    REQUIRE(begin != std::string::npos);
    const std::string line = text.substr(begin, text.find('\n', begin) - begin);
    REQUIRE(line.substr(line.size() - 4) == " URL");
    const HttpServer provider([](const HttpRequest& request) {
        return request.number == 1 ? HttpAnswer{429, {"Retry-After: 1"}, "slow down\n"} : HttpAnswer{};
    });
    const Sandbox sandbox;
    ProgramOptions options = sandbox.options();
    const std::string program = program_path();
    options.env["PATH"] = program.substr(0, program.rfind('/')) + ":/usr/local/bin:/usr/bin:/bin";
    const std::string script = line.substr(0, line.size() - 3) + provider.url();
    const ProgramResult result = run_program({"sh", "-c", script}, options);
    INFO(describe(result));
    CHECK(result.status() == 0);
    CHECK(result.out == "Retry-After: 1\n");
    CHECK(provider.records().size() == 2);
    CHECK(read_file(sandbox.file("item.json")) == "ok\n");
    const auto pause = nlohmann::json::parse(sandbox.run({"inspect", "acme", "--json"}).out)["pause"];
    CHECK(pause["summary"] == "the command said Retry-After: 1");
}
