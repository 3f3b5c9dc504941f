// SPDX-License-Identifier: MIT
// A Redis Cluster: the keys of a job have slots of their own, so that no decision covers them all.
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "redis_support.hpp"
#include "support/catch.hpp"

namespace jobthrottle::test {

namespace {

using namespace std::chrono_literals;

// The port of a cluster's server and the one 10,000 above it have to be free, and there.
std::unique_ptr<RedisServer> started_cluster() {
    for (int tries = 0;; ++tries) {
        try {
            return std::make_unique<RedisServer>(RedisOptions{"", {"--cluster-enabled", "yes"}});
        } catch (const std::runtime_error&) {
            if (tries == 50) throw;
        }
    }
}

// A cluster of one, which is enough for CROSSSLOT.
struct Cluster {
    Cluster() {
        std::vector<std::string> command = {"CLUSTER", "ADDSLOTS"};
        for (int slot = 0; slot < 16384; ++slot)
            command.push_back(std::to_string(slot));
        REQUIRE(server.cli(command) == "OK");
        for (int i = 0; i < 2000 && !is_ready(); ++i)
            usleep(10'000);
        REQUIRE(is_ready());
    }
    bool is_ready() { return server.cli({"CLUSTER", "INFO"}).find("cluster_state:ok") != std::string::npos; }

    std::unique_ptr<RedisServer> started = started_cluster();
    RedisServer& server = *started;
};

const Key k_first = key_named("a"), k_second = key_named("b");

Question question_of(const Terms& terms) {
    auto question = question_at(rate_of(1000, 1s));
    question.terms = terms;
    return question;
}

std::vector<Asked> both(const Question& question, bool turned) {
    if (turned) return {{k_second, question}, {k_first, question}};
    return {{k_first, question}, {k_second, question}};
}

}  // namespace

TEST_CASE("redis cluster: a job with two keys starts on both or on none", "[contract]") {
    Cluster cluster;
    const auto store = redis_at(cluster.server.socket_url());
    const Terms one = terms_of({}, 1);
    const auto holder = question_of(one), job = question_of(one);
    REQUIRE(store->ask(k_second, holder)->leased);
    const auto refused = store->ask(both(job, false));
    REQUIRE(refused.ok());
    CHECK(refused->at(0).kind == AnswerKind::wait);
    CHECK(refused->at(1).kind == AnswerKind::wait);
    CHECK(refused->at(1).wake == 1);
    CHECK(store->inspect(k_first)->holding.empty());
    const auto descriptors = store->listen({{k_second, job.place, 1}});
    REQUIRE(descriptors.ok());
    CHECK(descriptors->size() == 1);
    REQUIRE(store->release(k_second, {holder.id, false})->state == LeaseState::held);
    const auto started = store->ask(both(job, true));
    REQUIRE(started.ok());
    CHECK(started->at(0).leased);
    CHECK(started->at(1).leased);
    CHECK(store->inspect(k_first)->waiting.empty());
    CHECK(store->inspect(k_second)->waiting.empty());
}

TEST_CASE("redis cluster: jobs that name their keys in opposite orders all get through", "[contract]") {
    Cluster cluster;
    std::int64_t clock_us = 1'700'000'000'000'000;
    auto options = options_for(cluster.server.socket_url());
    options.clock_us = [&] { return clock_us; };
    const auto store = make_redis_store(options);
    const Terms terms = terms_of({rate_of(100, 1s)}, 1);
    struct Job {
        Question question;
        std::int64_t due_us;
        bool holds = false;
    };
    std::vector<Job> jobs;
    for (int i = 0; i < 8; ++i)
        jobs.push_back({question_of(terms), clock_us + i * 1000, false});
    std::size_t done = 0;
    for (int step = 0; step < 2000 && done < jobs.size(); ++step) {
        const auto next = static_cast<std::size_t>(
            std::min_element(jobs.begin(), jobs.end(),
                             [](const Job& a, const Job& b) { return a.due_us < b.due_us; }) -
            jobs.begin());
        Job& job = jobs[next];
        clock_us = std::max(clock_us, job.due_us);
        if (job.holds) {
            for (const Key& key : {k_first, k_second})
                CHECK(store->release(key, {job.question.id, false})->state == LeaseState::held);
            job.due_us = std::numeric_limits<std::int64_t>::max();
            ++done;
            continue;
        }
        const auto answers = store->ask(both(job.question, next % 2 == 0));
        REQUIRE(answers.ok());
        job.holds = answers->at(0).kind == AnswerKind::start;
        CHECK(job.holds == (answers->at(1).kind == AnswerKind::start));
        job.due_us = clock_us + answers->at(0).wait.count() + (job.holds ? 20'000 : 0);
        const auto held = [&](const Key& key) { return store->inspect(key)->places; };
        CHECK(held(k_first) == held(k_second));
        CHECK(held(k_first) <= 1);
    }
    CHECK(done == jobs.size());
    CHECK(clock_us < 1'700'000'000'000'000 + 20'000'000);
}

}  // namespace jobthrottle::test
