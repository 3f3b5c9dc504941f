// SPDX-License-Identifier: MIT
// The cases of tests/data/retry-after.jsonl, fed whole, byte by byte, and in random pieces.
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "core/refusal/http_date.hpp"
#include "core/refusal/scanner.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using nlohmann::json;

namespace {

// Fewer would mean that cases were lost.
constexpr std::size_t k_cases = 306;
constexpr std::size_t k_default_cases = 237;
constexpr std::size_t k_exit_code_cases = 2;

std::vector<json> load_cases() {
    std::ifstream file(JT_TEST_DATA "/retry-after.jsonl");
    REQUIRE(file);
    std::vector<json> cases;
    for (std::string line; std::getline(file, line);)
        cases.push_back(json::parse(line));
    return cases;
}

std::string decode_base64(const std::string& text) {
    static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    unsigned bits = 0;
    int count = 0;
    for (const char c : text) {
        if (c == '=') break;
        bits = bits << 6 | static_cast<unsigned>(digits.find(c));
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>(bits >> count & 0xFF);
    }
    return bytes;
}

ScannedStream stream_named(const std::string& name) {
    REQUIRE((name == "stdout" || name == "stderr"));
    return name == "stdout" ? ScannedStream::out : ScannedStream::err;
}

std::string text_of(const json& c) {
    return c.contains("text_b64") ? decode_base64(c["text_b64"].get<std::string>())
                                  : c["text"].get<std::string>();
}

Moment moment_of(const json& c) {
    const auto now = parse_rfc3339(c["now"].get<std::string>());
    REQUIRE(now);
    return {BootTime{std::chrono::seconds{1000}}, *now};
}

// --pause-on-exit N where the case wants it.
RefusalRules rules_for(const json& c) {
    RefusalRules rules;
    const std::string needs = c["needs"];
    const std::string option = "opt-in:exit=";
    if (needs.rfind(option, 0) == 0) rules.exit_rules.push_back({std::stoi(needs.substr(option.size())), {}});
    return rules;
}

// Gives the size of the next piece.
using Pieces = std::vector<std::size_t>;

void feed_in_pieces(RefusalScanner& scanner, ScannedStream stream, std::string_view text, const Pieces& sizes,
                    Moment now) {
    for (const std::size_t size : sizes) {
        scanner.feed(stream, text.substr(0, size), now);
        text.remove_prefix(std::min(size, text.size()));
    }
    if (!text.empty()) scanner.feed(stream, text, now);
}

Verdict judge(const json& c, const RefusalRules& rules, const Pieces& sizes, const Pieces& sizes2) {
    RefusalScanner scanner(rules);
    const Moment now = moment_of(c);
    feed_in_pieces(scanner, stream_named(c["stream"]), text_of(c), sizes, now);
    if (c.contains("text2")) {
        feed_in_pieces(scanner, stream_named(c["stream2"]), c["text2"].get<std::string>(), sizes2, now);
    }
    return scanner.finish({c["exit"].get<int>(), now});
}

std::int64_t pause_ms(const Verdict& verdict) {
    const Duration pause = verdict.pause.value_or(Duration{0});
    return std::chrono::duration_cast<std::chrono::milliseconds>(pause).count();
}

bool is_whole_ms(const Verdict& verdict) {
    return verdict.pause.value_or(Duration{0}) % std::chrono::milliseconds{1} == Duration{0};
}

void check_evidence(const Verdict& verdict) {
    CHECK(is_whole_ms(verdict));
    CHECK(verdict.evidence.line.size() <= 200);
    CHECK(verdict.evidence.reason.empty() == !verdict.pause.has_value());
    if (!verdict.ill_formed.empty()) CHECK_FALSE(verdict.asked);
}

// All of a case whose rules are there: what was asked, and what follows.
void check_fully(const json& c, const Verdict& verdict) {
    CHECK(verdict.refused == c["refused"].get<bool>());
    CHECK(pause_ms(verdict) == c["pause_ms"].get<std::int64_t>());
    CHECK(verdict.asked.has_value() == !c["delay_ms"].is_null());
    if (c["delay_ms"].is_null() || !verdict.asked) return;
    const auto delay = std::chrono::milliseconds{c["delay_ms"].get<std::int64_t>()};
    // Above the clamp the number depends on the reading; bare lines state it after the clamp.
    if (delay <= std::chrono::hours{24} && c["group"] != "bare-line") CHECK(*verdict.asked == delay);
}

bool has_all_its_rules(const json& c) {
    const std::string needs = c["needs"];
    return !c.contains("known_limit") && (needs == "default" || needs.rfind("opt-in:exit=", 0) == 0);
}

void check(const json& c, const Pieces& sizes, const Pieces& sizes2) {
    if (has_all_its_rules(c)) check_fully(c, judge(c, rules_for(c), sizes, sizes2));
    // What stands in the way of other rules must not pause, and what needs them must do so much by default.
    const Verdict by_default = judge(c, {}, sizes, sizes2);
    CHECK(pause_ms(by_default) == c["default_pause_ms"].get<std::int64_t>());
    check_evidence(by_default);
}

Pieces random_pieces(std::mt19937& random, std::size_t length) {
    Pieces sizes;
    std::uniform_int_distribution<std::size_t> size(0, std::max<std::size_t>(2, length / 3));
    for (std::size_t sum = 0; sum < length; sum += sizes.back())
        sizes.push_back(size(random) / (1 + random() % 40));
    return sizes;
}

}  // namespace

TEST_CASE("refusal cases: all are there, with the rules they need", "[unit]") {
    const auto cases = load_cases();
    CHECK(cases.size() >= k_cases);
    std::map<std::string, std::size_t> by_needs;
    for (const json& c : cases) {
        const std::string needs = c["needs"];
        ++by_needs[needs.rfind("opt-in:exit=", 0) == 0 ? "exit code" : needs];
    }
    CHECK(by_needs["default"] >= k_default_cases);
    CHECK(by_needs["exit code"] >= k_exit_code_cases);
}

TEST_CASE("refusal cases: fed whole", "[unit]") {
    for (const json& c : load_cases()) {
        CAPTURE(c["id"].get<std::string>(), c["why"].get<std::string>());
        check(c, {}, {});
        if (c.contains("chunks")) check(c, c["chunks"].get<Pieces>(), {});
    }
}

TEST_CASE("refusal cases: fed byte by byte", "[unit]") {
    for (const json& c : load_cases()) {
        CAPTURE(c["id"].get<std::string>(), c["why"].get<std::string>());
        const Pieces single(text_of(c).size(), 1);
        const Pieces single2(c.value("text2", "").size(), 1);
        check(c, single, single2);
    }
}

TEST_CASE("refusal cases: fed in random pieces", "[unit]") {
    std::mt19937 random(20261130);
    for (const json& c : load_cases()) {
        CAPTURE(c["id"].get<std::string>(), c["why"].get<std::string>());
        for (int round = 0; round < 10; ++round) {
            const Pieces sizes = random_pieces(random, text_of(c).size());
            const Pieces sizes2 = random_pieces(random, c.value("text2", "").size());
            check(c, sizes, sizes2);
        }
    }
}

TEST_CASE("refusal cases: those that name a time zone hold in it", "[unit]") {
    std::size_t count = 0;
    for (const json& c : load_cases()) {
        if (!c.contains("env")) continue;
        ++count;
        CAPTURE(c["id"].get<std::string>());
        const char* before = std::getenv("TZ");
        const std::string kept = before == nullptr ? "" : before;
        ::setenv("TZ", c["env"]["TZ"].get<std::string>().c_str(), 1);
        check(c, {}, {});
        if (before == nullptr) {
            ::unsetenv("TZ");
        } else {
            ::setenv("TZ", kept.c_str(), 1);
        }
    }
    CHECK(count >= 1);
}
