// SPDX-License-Identifier: MIT
#include <nlohmann/json.hpp>

#include "core/slots.hpp"
#include "output/json.hpp"
#include "support/catch.hpp"
#include "unit/output_samples.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;
using nlohmann::json;

TEST_CASE("json: a free key", "[unit]") {
    CHECK(
        inspect_json(sample_view()) ==
        R"({"key":"github","known":true,"store":"redis://ci-redis:6379/0","shared":"",)"
        R"("limits":[{"allow":80,"every_ms":60000,"burst":1,"registered":false,"starts":3,"remaining":77}],)"
        R"("registered_by":null,"registered_at_s":null,"starts_in_window":3,"remaining":77,)"
        R"("concurrency":null,"places":0,"leases":[],"limited":false,)"
        R"("available_in_ms":0,"paused_for_ms":0,"paused_forever":false,"paused_by_hand":false,"pause":null,)"
        R"("waiting":0,"waiters":[],"late":0,"started":8204,"last_start_ago_ms":1500,"now_s":1794405802})");
}

TEST_CASE("json: the line, those who are late, and what is registered", "[unit]") {
    InspectView view = sample_view_with_line(2);
    view.report.registration = Registration{sample_terms({"80/min"}), 1'700'000'000, "ops@db1"};
    view.report.waiting[1].place = Place::away;
    view.report.waiting[1].asks_in = -1500us;
    view.report.waiting[0].starts_in = 400'001us;
    view.report.note = sample_refusal();
    const json got = json::parse(inspect_json(view));
    CHECK(got["limits"][0]["registered"] == true);
    CHECK(got["registered_by"] == "ops@db1");
    CHECK(got["registered_at_s"] == 1'700'000'000);
    CHECK(got["limited"] == true);
    CHECK(got["available_in_ms"] == 1900);
    CHECK(got["waiting"] == 1);
    CHECK(got["late"] == 1);
    CHECK(
        got["waiters"].dump() ==
        R"([{"asks_in_ms":1000,"cost":1,"job":"deploy#4313","place":1,"starts_in_ms":401,"waited_ms":20000,)"
        R"("where":"ci@ci-03:991"},{"asks_in_ms":-1,"cost":1,"job":"deploy#4314","place":null,"starts_in_ms":null,)"
        R"("waited_ms":19300,"where":"ci@ci-03:992"}])");
    CHECK(got["pause"].dump() ==
          R"({"at_s":1794405667,"job":"gh","line":"HTTP/2 429","reason":"","stream":"stdout",)"
          R"("summary":"HTTP 429, Retry-After: 1800","who":"dev@ci-07:4121"})");
    CHECK(got["paused_for_ms"] == 0);
}

TEST_CASE("json: a pause, and one without an end", "[unit]") {
    InspectView view = sample_view_with_line(1);
    view.report.paused_for = 1'500'001us;
    view.report.paused_by_hand = true;
    json got = json::parse(inspect_json(view));
    CHECK(got["paused_for_ms"] == 1501);
    CHECK(got["paused_forever"] == false);
    CHECK(got["paused_by_hand"] == true);
    CHECK(got["limited"] == true);
    view.report.paused_for_ever = true;
    view.report.paused_for = view.report.available_in = view.report.waiting[0].starts_in =
        Duration{k_forever_us - 1};
    got = json::parse(inspect_json(view));
    CHECK(got["paused_for_ms"].is_null());
    CHECK(got["paused_forever"] == true);
    CHECK(got["available_in_ms"].is_null());
    CHECK(got["waiters"][0]["starts_in_ms"].is_null());
}

TEST_CASE("json: a key with pauses alone, and a period that is no whole millisecond", "[unit]") {
    InspectView view = sample_view();
    put_terms(view.report, *Terms::make({*Rate::make(1, 1500us)}));
    CHECK(json::parse(inspect_json(view))["limits"][0]["every_ms"] == 1.5);
    put_terms(view.report, Terms{});
    view.report.last_start_age_us = -1;
    const json got = json::parse(inspect_json(view));
    CHECK(got["limits"].empty());
    CHECK(got["limits"].is_array());
    CHECK(got["remaining"].is_null());
    CHECK(got["last_start_ago_ms"].is_null());
}

TEST_CASE("json: several limits, and the places of a key", "[unit]") {
    InspectView view = sample_view_with_line(1);
    put_terms(view.report, sample_terms({"500/min", "10/s"}, 2), 5, 7);
    view.report.limits[1].remaining = 3;
    view.report.places = 2;
    view.report.holding = {sample_holder(72s, 8s, 52s, "etl.sh ops@db1:4121"),
                           sample_holder(3100ms, 3100ms, -657s, "sync")};
    view.report.holding[1].held = view.report.holding[1].place = false;
    view.report.holding[1].cost = 1500;
    const json got = json::parse(inspect_json(view));
    REQUIRE(got["limits"].size() == 2);
    CHECK(got["limits"][0]["allow"] == 10);
    CHECK(got["limits"][1]["burst"] == 500);
    CHECK(got["starts_in_window"] == 5);
    CHECK(got["remaining"] == 3);
    CHECK(got["concurrency"] == 2);
    CHECK(got["places"] == 2);
    CHECK(got["limited"] == true);
    CHECK(got["available_in_ms"].is_null());
    CHECK(got["waiters"][0]["starts_in_ms"].is_null());
    CHECK(got["leases"].dump() ==
          R"([{"age_ms":72000,"cost":1,"held":true,"job":"etl.sh","left_ms":52000,"place":true,)"
          R"("renewed_ago_ms":8000,"where":"ops@db1:4121"},)"
          R"({"age_ms":3100,"cost":1500,"held":false,"job":"sync","left_ms":-657000,"place":false,)"
          R"("renewed_ago_ms":3100,"where":""}])");
    CHECK_FALSE(json::parse(keys_json({{view.key, view.report}}))[0].contains("leases"));
}

TEST_CASE("json: a key that is not known", "[unit]") {
    InspectView view = sample_view();
    view.report = KeyReport{};
    view.nearest = {"githob"};
    CHECK(
        inspect_json(view) ==
        R"({"key":"github","known":false,"store":"redis://ci-redis:6379/0","shared":"","nearest":["githob"]})");
    view.nearest.clear();
    CHECK(json::parse(inspect_json(view))["nearest"].dump() == "[]");
}

TEST_CASE("json: a key that is no UTF-8 is there exactly", "[unit]") {
    const auto key_of = [](const std::string& bytes) {
        const json got = json::parse(pause_json(sample_key(bytes), {}));
        return got["key"].get<std::string>() + " " + got.value("key_b64", "-");
    };
    CHECK(key_of("a\nb") == "a\nb -");
    CHECK(key_of("\xff") == "\\xff /w==");
    CHECK(key_of("a\xff") == "a\\xff Yf8=");
    CHECK(key_of("ab\xff") == "ab\\xff YWL/");
    CHECK(key_of("abc\xff") == "abc\\xff YWJj/w==");
    CHECK(key_of(std::string("\0\xfb\xef\xbe", 4)) == "\\x00\\xfb\\xef\\xbe APvvvg==");
}

TEST_CASE("json: keys stand one to a line, the most limited first", "[unit]") {
    CHECK(keys_json({}) == "[]");
    const std::vector<NamedReport> keys{{sample_key("a"), sample_view().report},
                                        {sample_key("b"), sample_view_with_line(2).report}};
    const std::string text = keys_json(keys);
    CHECK(std::count(text.begin(), text.end(), '\n') == 3);
    const json got = json::parse(text);
    CHECK(got.size() == 2);
    CHECK(got[0]["key"] == "b");
    CHECK(got[0]["waiting"] == 2);
    CHECK_FALSE(got[0].contains("waiters"));
    CHECK(got[1]["limits"][0]["allow"] == 80);
}

TEST_CASE("json: admit", "[unit]") {
    CHECK(
        admit_json({sample_key("a"), true, false, 0s, 1500ms, std::nullopt}) ==
        R"({"key":"a","admitted":true,"unthrottled":false,"wait_ms":0,"waited_ms":1500,"why":null,"ahead":0,)"
        R"("token":null})");
    Answer answer;
    answer.why = WaitCause::line;
    answer.ahead = 14;
    AdmitView view{sample_key("a"), false, false, 41'000'001us, 0s, answer};
    CHECK(admit_json(view) ==
          R"({"key":"a","admitted":false,"unthrottled":false,"wait_ms":41001,"waited_ms":0,"why":"line",)"
          R"("ahead":14,"token":null})");
    view.answer->why = WaitCause::rate;
    CHECK(json::parse(admit_json(view))["why"] == "rate");
    view.answer->why = WaitCause::lease;
    CHECK(json::parse(admit_json(view))["why"] == "lease");
    view.answer->paused_for = 1s;
    CHECK(json::parse(admit_json(view))["why"] == "paused");
    view.answer->kind = AnswerKind::crowded;
    CHECK(json::parse(admit_json(view))["why"] == "crowded");
    view.token = "00000000000000a1";
    CHECK(json::parse(admit_json(view))["token"] == "00000000000000a1");
    view.wait = Duration{k_forever_us - 1};
    CHECK(json::parse(admit_json(view))["wait_ms"].is_null());
}

TEST_CASE("json: pause", "[unit]") {
    CHECK(pause_json(sample_key("a"), {1500ms, false, true}) ==
          R"({"key":"a","paused_for_ms":1500,"paused_forever":false,"changed":true})");
    CHECK(pause_json(sample_key("a"), {Duration{k_forever_us}, true, false}) ==
          R"({"key":"a","paused_for_ms":null,"paused_forever":true,"changed":false})");
}

TEST_CASE("json: text of any kind gives one valid line", "[unit]") {
    for (const auto& bad : troublesome_bytes()) {
        const std::string text = "x" + bad + "\"\\";
        InspectView view = sample_view_with_line(1);
        view.key = sample_key(text);
        view.store = view.shared_note = text;
        view.report.registration = Registration{view.report.terms, 1, text};
        view.report.note = PauseNote{text, text, text, text, text, text, 1};
        view.report.waiting[0].who = text + " " + text;
        view.report.holding = {sample_holder(1s, 1s, 1s, text + " " + text)};
        const std::string line = inspect_json(view);
        INFO(line);
        CHECK(json::accept(line));
        CHECK(is_valid_utf8(line));
        CHECK(line.find('\n') == std::string::npos);
        CHECK(line.find('\x1b') == std::string::npos);
        view.report.known = false;
        view.nearest = {text};
        CHECK(json::accept(inspect_json(view)));
        CHECK(json::accept(keys_json({{view.key, view.report}})));
    }
}
