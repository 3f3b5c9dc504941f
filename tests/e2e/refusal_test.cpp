// SPDX-License-Identifier: MIT
// A provider that has had enough after ten requests and says for how long.
#include "paced.hpp"
#include "site.hpp"
#include "support/catch.hpp"
#include "support/http_server.hpp"
#include "support/pool.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t k_jobs = 30;
constexpr std::size_t k_good_ones = 10;
constexpr Duration k_outage = 3s;
constexpr Duration k_slot = 100ms;

// 200 to the first ten; then 429 until the outage is over that the eleventh began; then 200 again.
class TiredProvider {
public:
    HttpAnswer operator()(const HttpRequest& request) {
        if (request.number == k_good_ones + 1) m_until = request.at + k_outage;
        if (request.number <= k_good_ones || request.at >= m_until) return {};
        return {429, {"Retry-After: 3"}, "slow down\n"};
    }

private:
    BootTime m_until;
};

struct Arrivals {
    std::vector<BootTime> refused;
    std::vector<BootTime> after;  // those that were answered once the outage was over
    std::size_t ok = 0;
};

Arrivals arrivals_at(const HttpServer& server) {
    Arrivals found;
    for (const HttpRecord& record : server.records()) {
        if (record.answer.status == 429) {
            found.refused.push_back(record.request.at);
            continue;
        }
        ++found.ok;
        if (!found.refused.empty()) found.after.push_back(record.request.at);
    }
    return found;
}

void check_results(const PoolResult& pool) {
    for (const ProgramResult& result : pool.results) {
        INFO(describe(result));
        CHECK(result.code == 0);
        const std::size_t last_head = result.out.rfind("HTTP/1.1 ");
        REQUIRE(last_head != std::string::npos);
        CHECK(result.out.substr(last_head, 12) == "HTTP/1.1 200");
        const bool was_refused = result.out.find("HTTP/1.1 429") != std::string::npos;
        CHECK((result.err.find("lines up again") != std::string::npos) == was_refused);
    }
}

void check_held_and_spaced(const Arrivals& seen, Duration standstill) {
    REQUIRE(!seen.refused.empty());
    const BootTime first_refusal = seen.refused.front();
    // One that was in flight, one granted less than 100 ms ahead, and as many as become due until the refused
    // curl has ended and its key is paused: half a second of the rate, on a loaded machine.
    const Duration until_paused = 500ms + standstill;
    CHECK(static_cast<std::int64_t>(seen.refused.size()) <= 1 + until_paused / k_slot);
    CHECK(seen.refused.back() - first_refusal <= until_paused);

    REQUIRE(!seen.after.empty());
    CHECK(seen.after.front() - first_refusal >= k_outage);
    check_paced(seen.after, 10, standstill);
}

void check_outage(Where where) {
    const Site site(where);
    const HttpServer server{TiredProvider()};
    const Argv command =
        site.command({"run", "-k", "api", "-r", "10/s", "--tries", "1", "--", "curl", "-si", server.url()});
    const PoolResult pool = run_many(command, k_jobs, k_jobs, site.options());

    check_results(pool);
    const Arrivals seen = arrivals_at(server);
    CHECK(seen.ok == k_jobs);
    check_held_and_spaced(seen, site.standstill().longest());
}

}  // namespace

TEST_CASE("refusal: one 429 holds all for as long as it asks (local store)", "[e2e]") {
    check_outage(Where::local);
}

TEST_CASE("refusal: one 429 holds all for as long as it asks (Redis)", "[e2e]") {
    check_outage(Where::redis);
}
