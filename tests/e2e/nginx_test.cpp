// SPDX-License-Identifier: MIT
// Real curls against a real limiter: nginx, which lets five a second through and answers 429 to the rest.
#include "support/nginx.hpp"

#include "paced.hpp"
#include "precedence.hpp"
#include "site.hpp"
#include "support/catch.hpp"
#include "support/pool.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t k_jobs = 40;
// 39 slots of 200 ms are 7.8 s.
constexpr Duration k_in_time = 8500ms;
constexpr int k_more_attempts = 3;

Argv curl(const NginxLimiter& nginx) {
    return {"curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}\\n", nginx.url()};
}

struct Measured {
    std::size_t ok = 0;
    std::size_t refused = 0;
    std::size_t succeeded = 0;
    Duration took{};
};

Measured measure(const Argv& command, const ProgramOptions& options, const NginxLimiter& nginx) {
    const std::size_t before = nginx.answers().size();
    const PoolResult pool = run_many(command, k_jobs, k_jobs, options);
    const std::vector<NginxLimiter::Answer> all = nginx.answers(before + k_jobs);
    const std::vector<NginxLimiter::Answer> ours(all.begin() + static_cast<std::ptrdiff_t>(before),
                                                 all.end());
    return {count_of(ours, 200), count_of(ours, 429), pool.count_with_code(0), pool.elapsed()};
}

Measured measure_throttled(Where where) {
    const Site site(where);
    const NginxLimiter nginx(5);
    Argv args = {"run", "-k", "provider", "--rate", "5/s", "--"};
    const Argv client = curl(nginx);
    args.insert(args.end(), client.begin(), client.end());
    return measure(site.command(args), site.options(), nginx);
}

Measured measure_plain() {
    const Sandbox sandbox;
    const NginxLimiter nginx(5);
    return measure(curl(nginx), sandbox.options(), nginx);
}

bool is_good(const Measured& throttled) {
    return throttled.refused == 0 && throttled.took <= k_in_time;
}

void check_forty(Where where) {
    // The limiter has one slot to spare and knows nothing of builds that keep curl waiting.
    const Precedence precedence;
    // Without that right, a machine that lets the curls wait for longer than a slot spoils the measurement,
    // which is then made anew; a program that spaces badly fails all of them.
    Measured throttled = measure_throttled(where);
    for (int again = 0; again < k_more_attempts && !is_good(throttled); ++again)
        throttled = measure_throttled(where);
    CHECK(throttled.ok == k_jobs);
    CHECK(throttled.refused == 0);
    CHECK(throttled.succeeded == k_jobs);
    CHECK(throttled.took <= k_in_time);
    // Not faster either, but for two late slots that are made good.
    CHECK(throttled.took >= 7400ms - k_lateness);

    // The same forty without the program, so that the limiter is seen to bite.
    Measured plain = measure_plain();
    for (int again = 0; again < k_more_attempts && plain.refused < 30; ++again)
        plain = measure_plain();
    CHECK(plain.refused >= 30);
    CHECK(plain.refused + plain.ok == k_jobs);
}

}  // namespace

TEST_CASE("nginx: forty curls at once keep to its limit (local store)", "[e2e]") {
    check_forty(Where::local);
}

TEST_CASE("nginx: forty curls at once keep to its limit (Redis)", "[e2e]") {
    check_forty(Where::redis);
}
