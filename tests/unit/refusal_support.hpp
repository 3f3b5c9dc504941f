// SPDX-License-Identifier: MIT
// What the tests of refusals share: heads, and a verdict on them at one moment.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "core/refusal/scanner.hpp"

namespace jobthrottle::refusal_test {

using namespace std::chrono_literals;

inline Moment after(Duration passed) {
    return {BootTime{1000s + passed}, WallTime{1'796'040'000s + passed}};
}

inline Verdict judge(std::string_view out, int exit_code, std::string_view err = "",
                     const RefusalRules& rules = {}) {
    RefusalScanner scanner(rules);
    scanner.feed(ScannedStream::out, out, after(0s));
    scanner.feed(ScannedStream::err, err, after(0s));
    return scanner.finish({exit_code, after(0s)});
}

inline std::string head(std::string_view status, std::string_view fields = "", std::string_view body = "") {
    return "HTTP/1.1 " + std::string(status) + "\r\n" + std::string(fields) + "\r\n" + std::string(body);
}

inline const std::string k_refused = head("429 Too Many Requests", "Retry-After: 30\r\n", "{}\n");

}  // namespace jobthrottle::refusal_test
