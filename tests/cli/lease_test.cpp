// SPDX-License-Identifier: MIT
// Places of a key, as scripts take and give them: run -j, admit, renew, release, --follow.
#include <nlohmann/json.hpp>
#include <thread>

#include "support/catch.hpp"
#include "support/cli.hpp"
#include "support/redis_server.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

namespace {

// The program on one store.
class Place {
public:
    Place() = default;
    explicit Place(const std::string& url) : m_url(url) {}

    ProgramOptions options() const {
        auto options = m_sandbox.options();
        if (!m_url.empty()) options.env["JOBTHROTTLE_STORE"] = m_url;
        return options;
    }
    ProgramResult run(const Argv& words) const { return m_sandbox.run(words, options()); }
    Program start(const Argv& words) const {
        auto with_input = options();
        with_input.input_from = Input::open;
        return m_sandbox.start(words, with_input);
    }
    json inspect(const char* key) const {
        const ProgramResult result = run({"inspect", key, "--json"});
        INFO(describe(result));
        REQUIRE(json::accept(result.out));
        return json::parse(result.out);
    }
    template <typename Condition>
    bool comes_to(const char* key, Condition condition) const {
        const BootTime until = BootClock::now() + 30s;
        while (BootClock::now() < until) {
            if (condition(inspect(key))) return true;
            std::this_thread::sleep_for(20ms);
        }
        return false;
    }
    // A dead holder is seen by who asks.
    bool lets_somebody_in(const char* key) const {
        const BootTime until = BootClock::now() + 30s;
        while (BootClock::now() < until) {
            if (run({"admit", key, "-j", "1", "-n"}).code == 0) return true;
            std::this_thread::sleep_for(20ms);
        }
        return false;
    }
    std::string token(const Argv& words) const {
        const ProgramResult result = run(words);
        INFO(describe(result));
        REQUIRE(result.code == 0);
        REQUIRE(result.out.size() == 17);
        return result.out.substr(0, 16);
    }

private:
    Sandbox m_sandbox;
    std::string m_url;
};

// Waits for a line on its standard input before it ends.
const Argv k_waits = {"sh", "-c", "echo in; read -r x"};

Argv run_words(const Argv& options, const Argv& command) {
    Argv words = {"run"};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return words;
}

// A key may be forgotten when nothing is left of it.
bool is_free(const json& state) {
    return state.value("places", 0) == 0;
}

// On both stores.
template <typename Test>
void on_each_store(Test test) {
    test(Place());
    RedisServer redis;
    test(Place(redis.socket_url()));
}

}  // namespace

TEST_CASE("lease: one runs at a time, and the next when its place is free", "[cli]") {
    on_each_store([](const Place& place) {
        Program holder = place.start(run_words({"-k", "db", "-j", "1", "--name", "etl"}, k_waits));
        CHECK(holder.read_line() == "in");
        const ProgramResult refused = place.run(run_words({"-k", "db", "-j", "1", "-n"}, {"true"}));
        INFO(describe(refused));
        CHECK(refused.code == 75);
        CHECK_THAT(refused.err, ContainsSubstring("db is busy: the only place is taken (concurrency 1). With "
                                                  "--no-wait: not run.") &&
                                    ContainsSubstring("why=lease"));
        const json state = place.inspect("db");
        CHECK(state["places"] == 1);
        CHECK(state["concurrency"] == 1);
        CHECK(state["limited"] == true);
        REQUIRE(state["leases"].size() == 1);
        CHECK(state["leases"][0]["job"] == "etl");
        CHECK_THAT(place.run({"inspect", "db"}).out,
                   ContainsSubstring("a job coming now starts when a place is free") &&
                       ContainsSubstring("  at once   1 of 1   job"));
        CHECK_THAT(place.run({"keys"}).out, ContainsSubstring("1 of 1"));
        Program next = place.start(run_words({"-k", "db", "-j", "1"}, {"echo", "next"}));
        CHECK(place.comes_to("db", [](const json& now) { return now.value("waiting", 0) == 1; }));
        holder.close_input();
        CHECK(holder.wait().code == 1);
        CHECK(next.read_line() == "next");
        CHECK(next.wait().code == 0);
        CHECK(is_free(place.inspect("db")));
    });
}

TEST_CASE("lease: with nothing else left to do the place is still given back", "[cli]") {
    Place place;
    const Argv words =
        run_words({"-k", "db", "-j", "1", "--scan", "none", "--rerun", "never"}, {"sh", "-c", "exit 3"});
    CHECK(place.run(words).code == 3);
    CHECK(is_free(place.inspect("db")));
    CHECK(place.run(words).code == 3);
}

TEST_CASE("lease: its token is told to its holder alone", "[cli]") {
    Place place;
    const std::string token = place.token({"admit", "db", "-j", "2"});
    for (const Argv& words : std::initializer_list<Argv>{
             {"inspect", "db"}, {"inspect", "db", "--json"}, {"keys", "--json"}, {"forget", "db"}}) {
        const ProgramResult result = place.run(words);
        CHECK((result.out + result.err).find(token) == std::string::npos);
    }
    const ProgramResult object = place.run({"admit", "db", "-j", "2", "--json"});
    const json admitted = json::parse(object.out);
    CHECK(admitted["admitted"] == true);
    CHECK(admitted["token"].get<std::string>().size() == 16);
    const ProgramResult full = place.run({"admit", "db", "-j", "2", "-n", "--json"});
    CHECK(full.code == 75);
    CHECK(json::parse(full.out)["why"] == "lease");
    CHECK(json::parse(full.out)["wait_ms"] > 0);
    CHECK(json::parse(full.out)["token"].is_null());
    CHECK(place.run({"admit", "db", "-j", "2", "-n"}).out != "0.000\n");
    CHECK(place.run({"admit", "other", "-r", "5/s"}).out.empty());
}

TEST_CASE("lease: release gives a place back, once", "[cli]") {
    on_each_store([](const Place& place) {
        const std::string token = place.token({"admit", "db", "-j", "1"});
        CHECK(place.run({"admit", "db", "-j", "1", "-n"}).code == 75);
        CHECK(place.run({"renew", "db", token, "--lock-for", "1h"}).code == 0);
        CHECK(place.inspect("db")["leases"][0]["left_ms"] > 3'000'000);
        const ProgramResult released = place.run({"release", "db", token});
        INFO(describe(released));
        CHECK(released.code == 0);
        CHECK((released.out + released.err).empty());
        const std::string again = place.token({"admit", "db", "-j", "1", "-n"});
        for (const char* command : {"release", "renew"}) {
            const ProgramResult gone = place.run({command, "db", token});
            CHECK(gone.code == 75);
            CHECK_THAT(gone.err, ContainsSubstring("db: not held: never taken, released before, or lost more "
                                                   "than 10 minutes ago"));
        }
        CHECK(place.run({"release", "never-seen", token}).code == 75);
        CHECK_FALSE(is_free(place.inspect("db")));
    });
}

TEST_CASE("lease: one that ran out is lost where another has the place, else taken again", "[cli]") {
    on_each_store([](const Place& place) {
        const std::string token = place.token({"admit", "db", "-j", "1", "--lock-for", "1s"});
        CHECK(place.comes_to("db", is_free));
        const ProgramResult retaken = place.run({"renew", "db", token, "--lock-for", "1s"});
        INFO(describe(retaken));
        CHECK(retaken.code == 0);
        CHECK_THAT(retaken.err, ContainsSubstring("db: the place that was lost") &&
                                    ContainsSubstring("ago is held again"));
        const std::string other = place.token({"admit", "db", "-j", "1"});
        const ProgramResult lost = place.run({"renew", "db", token});
        INFO(describe(lost));
        CHECK(lost.code == 75);
        CHECK_THAT(lost.err, ContainsSubstring("db: the lease was lost") &&
                                 ContainsSubstring("ago: another may have its place"));
        CHECK(place.run({"release", "db", token}).code == 75);
        CHECK(place.run({"release", "db", other}).code == 0);
    });
}

TEST_CASE("lease: release --all and --dead list what they released", "[cli]") {
    Place place;
    CHECK(place.run({"release", "db", "--all"}).code == 0);
    CHECK(place.run({"release", "db", "--dead"}).out.empty());
    place.token({"admit", "db", "-j", "3", "--name", "one"});
    place.token({"admit", "db", "-j", "3", "--name", "two"});
    const ProgramResult none = place.run({"release", "db", "--dead"});
    CHECK(none.code == 0);
    CHECK(none.out.empty());
    const ProgramResult all = place.run({"release", "db", "--all"});
    INFO(describe(all));
    CHECK(all.code == 0);
    CHECK_THAT(all.out, ContainsSubstring("released one of ") && ContainsSubstring("released two of ") &&
                            ContainsSubstring(", held for "));
    CHECK(is_free(place.inspect("db")));
}

TEST_CASE("lease: a run inside one that holds its key is refused", "[cli]") {
    on_each_store([](const Place& place) {
        const std::string program = program_path();
        const auto inside = [&](const char* key) {
            return place.run(run_words({"-k", "db", "-j", "1"},
                                       {program, "run", "-k", key, "-j", "1", "--", "echo", "ran"}));
        };
        const ProgramResult same = inside("db");
        INFO(describe(same));
        CHECK(same.code == 78);
        CHECK(same.out.empty());
        CHECK_THAT(same.err, ContainsSubstring("part of a run that holds a place of db"));
        CHECK(inside("other").out == "ran\n");
    });
}

TEST_CASE("lease: forget leaves a key alone while a job holds a place of it", "[cli]") {
    Place place;
    Program holder = place.start(run_words({"-k", "db", "-j", "1", "--name", "etl"}, k_waits));
    CHECK(holder.read_line() == "in");
    const ProgramResult kept = place.run({"forget", "db"});
    INFO(describe(kept));
    CHECK(kept.code == 1);
    CHECK_THAT(kept.err, ContainsSubstring("db is not forgotten: 1 job holds a place of it; --force") &&
                             ContainsSubstring("etl"));
    CHECK(place.run({"forget", "db", "--force"}).code == 0);
    CHECK(place.run(run_words({"-k", "db", "-j", "1", "-n"}, {"true"})).code == 0);
    holder.send("x\n");
    CHECK(holder.wait().code == 0);
}

TEST_CASE("lease: no more line up than --max-waiting lets", "[cli]") {
    on_each_store([](const Place& place) {
        const std::string token = place.token({"admit", "db", "-j", "1"});
        Program waiter = place.start(run_words({"-k", "db", "-j", "1"}, {"true"}));
        CHECK(place.comes_to("db", [](const json& now) { return now.value("waiting", 0) == 1; }));
        const ProgramResult crowded =
            place.run(run_words({"-k", "db", "-j", "1", "--max-waiting", "1"}, {"true"}));
        INFO(describe(crowded));
        CHECK(crowded.code == 75);
        CHECK_THAT(crowded.err, ContainsSubstring("db: 1 job waits already, and --max-waiting 1 lets no more "
                                                  "line up: not run."));
        CHECK(place.run({"admit", "db", "-j", "1", "--max-waiting", "1", "-E", "9"}).code == 9);
        CHECK(place.run({"release", "db", token}).code == 0);
        CHECK(waiter.wait().code == 0);
    });
}

TEST_CASE("follow: a place is kept as long as the process lives, and the script is not held up", "[cli]") {
    on_each_store([](const Place& place) {
        auto options = place.options();
        options.input_from = Input::open;
        Program followed = start_program({"cat"}, options);
        // A process left behind that kept the pipe of $( ) would hold the script up for ever.
        const std::string script =
            "token=$(\"$1\" admit db -j 1 --follow \"$2\" --lock-for 3s) && echo got $token";
        const ProgramResult result = run_program(
            {"sh", "-c", script, "sh", program_path(), std::to_string(followed.pid())}, place.options());
        INFO(describe(result));
        REQUIRE(result.out.size() == 21);
        // Longer than the lease by itself.
        std::this_thread::sleep_for(4s);
        CHECK(place.comes_to("db", [](const json& now) { return !is_free(now); }));
        followed.close_input();
        CHECK(followed.wait().code == 0);
        CHECK(place.lets_somebody_in("db"));
    });
}

TEST_CASE("follow: the place is given back when the process ends, not when the lease does", "[cli]") {
    on_each_store([](const Place& place) {
        auto options = place.options();
        options.input_from = Input::open;
        Program followed = start_program({"cat"}, options);
        place.token(
            {"admit", "db", "-j", "1", "--follow", std::to_string(followed.pid()), "--lock-for", "1h"});
        CHECK_FALSE(is_free(place.inspect("db")));
        followed.kill(SIGKILL);
        CHECK(followed.wait().signal == SIGKILL);
        CHECK(place.lets_somebody_in("db"));
    });
}

TEST_CASE("follow: on a Redis a lease is renewed, so that it need not be long", "[cli]") {
    RedisServer redis;
    const Place place(redis.socket_url());
    auto options = place.options();
    options.input_from = Input::open;
    Program followed = start_program({"cat"}, options);
    const std::string pid = std::to_string(followed.pid());
    place.token({"admit", "short", "-j", "1", "--follow", pid, "--lock-for", "3s"});
    CHECK(place.comes_to("short", [](const json& now) {
        return now["leases"].size() == 1 &&
               now["leases"][0]["renewed_ago_ms"].get<int>() + 200 < now["leases"][0]["age_ms"].get<int>();
    }));
    place.token({"admit", "usual", "-j", "1", "--follow", pid});
    CHECK(place.inspect("usual")["leases"][0]["left_ms"] <= 60'000);
    const std::string given_back =
        place.token({"admit", "early", "-j", "1", "--follow", pid, "--lock-for", "3s"});
    CHECK(place.run({"release", "early", given_back}).code == 0);
    CHECK(is_free(place.inspect("early")));
    followed.close_input();
    CHECK(followed.wait().code == 0);
    CHECK(place.comes_to("short", is_free));
    CHECK(place.comes_to("usual", is_free));
}
