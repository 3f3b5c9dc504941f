// SPDX-License-Identifier: MIT
// What --help prints, and that it shows what the commands take.
#include "parsing.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("args: every option of a command is in its help, which fits 80 columns", "[unit]") {
    const auto width = [](const std::string& text) {
        std::size_t widest = 0, begin = 0;
        while (begin < text.size()) {
            const auto end = text.find('\n', begin);
            REQUIRE(end != std::string::npos);
            widest = std::max(widest, end - begin);
            begin = end + 1;
        }
        return widest;
    };
    CHECK(width(parsed<ShowText>({"--help"}).text) <= 80);
    CHECK(parsed<ShowText>({"help"}).text == parsed<ShowText>({"--help"}).text);
    for (const auto& command : command_table()) {
        const std::string name(command.name);
        INFO(name);
        const std::string text = parsed<ShowText>({name, "--help"}).text;
        CHECK(parsed<ShowText>({"help", name}).text == text);
        CHECK(width(text) <= 80);
        for (const Opt id : command.options) {
            const OptionRow& row = row_of(id);
            CHECK_THAT(text, ContainsSubstring(std::string(row.name)));
            if (!row.letter.empty()) CHECK_THAT(text, ContainsSubstring(std::string(row.letter) + ", "));
        }
        CHECK_THAT(parsed<ShowText>({"--help"}).text, ContainsSubstring(name));
    }
    CHECK_THAT(parsed<ShowText>({"--version"}).text, ContainsSubstring("jobthrottle "));

    Surroundings narrow = surroundings();
    narrow.width = 40;
    for (const auto& command : command_table()) {
        const auto options = parse_args({std::string(command.name), "--help"}, narrow);
        REQUIRE(options);
        const std::string text = std::get<ShowText>(*options).text;
        std::size_t begin = 0;
        for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
            const std::string line = text.substr(begin, end - begin);
            begin = end + 1;
            const auto begins = [&](const char* word) { return line.rfind(word, 0) == 0; };
            if (begins("  jobthrottle ") || begins("  tok=") || begins("  for "))
                continue;  // there to be copied
            INFO(command.name << ": " << line);
            CHECK(line.size() <= 40);
        }
    }
}

TEST_CASE("args: the help says what a user has to know besides", "[unit]") {
    const std::string run = parsed<ShowText>({"run", "--help"}).text;
    for (const char* word : {"USR1", "JOBTHROTTLE_KEY", "JOBTHROTTLE_ATTEMPT", "JOBTHROTTLE_WAITED",
                             "JOBTHROTTLE_PASSWORD", "auto (local", "several keys", "successes"}) {
        INFO(word);
        CHECK_THAT(run, ContainsSubstring(word));
    }
    CHECK_THAT(run, ContainsSubstring("that is stopped"));
    CHECK_THAT(parsed<ShowText>({"admit", "--help"}).text, ContainsSubstring("one for all keys") &&
                                                               ContainsSubstring("a call of its own") &&
                                                               ContainsSubstring("asking again"));
    CHECK_THAT(parsed<ShowText>({"release", "--help"}).text, ContainsSubstring("for k in"));
    const std::string keys = parsed<ShowText>({"keys", "--help"}).text;
    CHECK_THAT(keys, ContainsSubstring("glob"));
    CHECK_THAT(keys, !ContainsSubstring("run"));
}

TEST_CASE("args: an example of the table is a value that its option takes", "[unit]") {
    for (const auto& row : option_table()) {
        if (row.value.empty() || row.id == Opt::key) continue;
        INFO(row.name);
        REQUIRE_FALSE(row.example.empty());
        for (const auto& command : command_table()) {
            if (find_option(command, row.name) == nullptr) continue;
            Strings words = {std::string(command.name), "-k", "a", std::string(row.name),
                             std::string(row.example)};
            if (row.id == Opt::allow) words.insert(words.end(), {"--every", "1m"});
            if (row.id == Opt::every) words.insert(words.end(), {"--allow", "80"});
            if (row.id == Opt::burst) words.insert(words.end(), {"-r", "80/min"});
            if (row.id == Opt::pause_key) words[2] = row.example;
            if (command.name == "renew" || (command.name == "release" && row.id != Opt::key))
                words.insert(words.begin() + 3, "0123456789abcdef");
            if (command.name == "settle") words.insert(words.begin() + 1, "5");
            if (row.id == Opt::ticket_for) words.insert(words.end(), {"--ticket", "t"});
            const bool has_rate = row.group == Group::limit;
            if (command.name == "register" && !has_rate) words.insert(words.end(), {"-r", "80/min"});
            if (command.name == "pause" && row.id != Opt::until && row.id != Opt::retry_after)
                words.push_back("10m");
            if (command.name == "keys") words.erase(words.begin() + 1, words.begin() + 3);
            if (command.takes_command) words.insert(words.end(), {"--", "true"});
            const auto options = parse(words);
            INFO(command.name << ": " << (options ? "" : options.error().message));
            CHECK(options.ok());
        }
    }
}
