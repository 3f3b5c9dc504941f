// SPDX-License-Identifier: MIT
#include <random>
#include <string>
#include <string_view>

#include "support/catch.hpp"
#include "unit/refusal_support.hpp"

using namespace jobthrottle;
using namespace jobthrottle::refusal_test;

TEST_CASE("refusal: a 429 pauses for what it asks, with its evidence", "[unit]") {
    const Verdict verdict = judge(head("429 Too Many Requests", "retry-after: 1800\r\n"), 0);
    CHECK(verdict.refused);
    CHECK(verdict.pause == 30min);
    CHECK(verdict.asked == 30min);
    CHECK(verdict.ill_formed.empty());
    CHECK(verdict.evidence.source == Evidence::Source::out);
    CHECK(verdict.evidence.line == "HTTP/1.1 429 Too Many Requests");
    CHECK(verdict.evidence.reason == "HTTP 429, Retry-After: 1800");
}

TEST_CASE("refusal: nothing said, nothing follows", "[unit]") {
    for (const int code : {0, 1, 22, 75, 137}) {
        const Verdict verdict = judge("some output\n", code, "some talk\n");
        CHECK_FALSE(verdict.refused);
        CHECK_FALSE(verdict.pause);
        CHECK_FALSE(verdict.asked);
        CHECK(verdict.evidence.reason.empty());
    }
}

TEST_CASE("refusal: an ill-formed delay is named and gives the default", "[unit]") {
    const Verdict verdict = judge(head("429 Too Many Requests", "Retry-After: soon\r\n"), 0);
    CHECK(verdict.refused);
    CHECK(verdict.pause == 60s);
    CHECK_FALSE(verdict.asked);
    CHECK(verdict.ill_formed == "Retry-After: soon");
    CHECK(verdict.evidence.reason == "HTTP 429");
    // Another field that gives the delay makes the warning needless.
    CHECK(judge(head("429 X", "Retry-After: soon\r\nRetry-After-Ms: 2000\r\n"), 0).ill_formed.empty());
    // The client's own line after it does not hide it.
    const Verdict both = judge(head("429 X", "Retry-After: soon\r\n"), 22,
                               "curl: (22) The requested URL returned error: 429\n");
    CHECK(both.ill_formed == "Retry-After: soon");
    // A missing delay is no ill-formed one.
    CHECK(judge(head("429 X"), 0).ill_formed.empty());
}

TEST_CASE("refusal: the clamp and its options", "[unit]") {
    RefusalRules rules;
    rules.bounds = {1s, 10min, 90s};
    CHECK(judge(head("429 X", "Retry-After: 1800\r\n"), 0, "", rules).pause == 10min);
    CHECK(judge(head("429 X", "Retry-After: 1800\r\n"), 0, "", rules).asked == 30min);
    CHECK(judge(head("429 X"), 0, "", rules).pause == 90s);
    CHECK(judge(head("429 X", "Retry-After: 0\r\n"), 0, "", rules).pause == 1s);
}

TEST_CASE("refusal: the delay runs from when it was read", "[unit]") {
    RefusalScanner scanner;
    scanner.feed(ScannedStream::out, head("429 X", "Retry-After: 30\r\n"), after(0s));
    scanner.feed(ScannedStream::out, "still here\n", after(20s));
    const Verdict verdict = scanner.finish({1, after(20s)});
    CHECK(verdict.pause == 10s);
    CHECK(verdict.asked == 30s);

    RefusalScanner slow;
    slow.feed(ScannedStream::out, head("429 X", "Retry-After: 30\r\n"), after(0s));
    CHECK(slow.finish({1, after(50s)}).pause == 1s);  // it slept through it and failed: still the least pause
}

TEST_CASE("refusal: of several the latest deadline counts", "[unit]") {
    RefusalScanner scanner;
    scanner.feed(ScannedStream::out, head("429 X", "Retry-After: 60\r\n"), after(0s));
    scanner.feed(ScannedStream::out, head("429 X", "Retry-After: 20\r\n"), after(50s));
    const Verdict verdict = scanner.finish({0, after(50s)});
    CHECK(verdict.asked == 20s);
    CHECK(verdict.pause == 20s);
    CHECK(judge(head("429 X", "Retry-After: 60\r\n") + head("429 X", "Retry-After: 5\r\n"), 0).pause == 1min);
    // One that gave no delay does not outweigh one that did.
    CHECK(judge(head("429 X") + head("429 X", "Retry-After: 5\r\n"), 0).pause == 5s);
    CHECK(judge(head("429 X", "Retry-After: 5\r\n") + head("429 X"), 0).pause == 5s);
    RefusalScanner silent;
    silent.feed(ScannedStream::out, head("429 X"), after(0s));
    silent.feed(ScannedStream::out, head("429 X"), after(50s));
    CHECK(silent.finish({0, after(50s)}).pause == 60s);
    // Streams are added up.
    CHECK(judge(head("429 X", "Retry-After: 5\r\n"), 0, head("429 X", "Retry-After: 9\r\n")).pause == 9s);
}

TEST_CASE("refusal: an accepted answer clears those before it on its stream", "[unit]") {
    CHECK_FALSE(judge(k_refused + head("200 OK", "", "ok"), 0).refused);
    CHECK_FALSE(judge(k_refused + head("404 Not Found"), 1).refused);
    CHECK_FALSE(judge(k_refused + head("302 Found", "Retry-After: 1\r\n"), 1).refused);
    CHECK(judge(k_refused + head("503 Service Unavailable"), 0).refused);
    CHECK(judge(k_refused + head("100 Continue"), 0).refused);
    CHECK(judge(head("200 OK", "", "ok\n") + k_refused, 0).pause == 30s);
    CHECK(judge(k_refused, 0, head("200 OK")).refused);  // another stream
    // What a document shows is no answer, and clears nothing.
    CHECK(judge(k_refused + "HTTP/1.1 200 OK\nA: b\n\n", 0).refused);
    // A client's error line is cleared like the rest.
    const std::string curl = "curl: (22) The requested URL returned error: 429\n";
    CHECK(judge("", 1, curl).refused);
    CHECK_FALSE(judge("", 1, curl + head("200 OK")).refused);
}

TEST_CASE("refusal: the command's own last line", "[unit]") {
    const Verdict failed = judge("working\nRetry-After: 30\n", 3);
    CHECK(failed.refused);
    CHECK(failed.pause == 30s);
    CHECK(failed.evidence.line == "Retry-After: 30");
    const Verdict done = judge("working\nRetry-After: 30\n", 0);
    CHECK_FALSE(done.refused);
    CHECK(done.pause == 30s);
    CHECK(judge("retry-after:30", 0).pause == 30s);
    CHECK(judge("\x1b[31mRetry-After: 30\x1b[0m\n\r\n\n", 0).pause == 30s);
    CHECK(judge("Retry-After: Mon, 30 Nov 2026 12:00:45 GMT", 0).pause == 45s);
    for (const char* text :
         {"Retry-After: 30\ndone\n", "Retry-After: 30\ndone", " Retry-After: 30\n", "Retry-After : 30\n",
          "Retry-After: soon\n", "Retry-After:\n", "Retry-After 30\n", "Retry-After: 30\n.\n"}) {
        CAPTURE(text);
        CHECK_FALSE(judge(text, 1).pause);
    }
    CHECK_FALSE(judge("Retry-After: 30\n" + std::string(9000, 'x'), 1).pause);
    CHECK_FALSE(judge(head("200 OK", "", "Retry-After: 30\n"), 1).pause);
    CHECK_FALSE(judge("HTTP/1.1 200 OK\n\nRetry-After: 30\n", 0).pause);  // any head at all

    CHECK_FALSE(judge("", 1, "Retry-After: 30\n").pause);
    RefusalRules named;
    named.message_on_err = true;
    CHECK(judge("", 1, "Retry-After: 30\n", named).pause == 30s);
}

TEST_CASE("refusal: the exit code rules", "[unit]") {
    RefusalRules rules;
    rules.exit_rules = {{75, {}}, {254, 5s}, {254, 8s}, {9, 48h}};
    const Verdict bare = judge("", 75, "", rules);
    CHECK(bare.refused);
    CHECK(bare.pause == 60s);
    CHECK_FALSE(bare.asked);
    CHECK(bare.evidence.source == Evidence::Source::exit_code);
    CHECK(bare.evidence.reason == "exit code 75");
    CHECK(judge("", 254, "", rules).pause == 8s);
    CHECK(judge("", 9, "", rules).pause == 24h);
    CHECK_FALSE(judge("", 1, "", rules).pause);
    // The longest delay asked for wins, whoever asks.
    CHECK(judge(k_refused, 254, "", rules).pause == 30s);
    CHECK(judge(head("429 X", "Retry-After: 2\r\n"), 254, "", rules).pause == 8s);
    CHECK(judge(head("429 X", "Retry-After: 2\r\n"), 75, "", rules).pause == 2s);
}

TEST_CASE("refusal: error lines of clients, on standard error of a failed command", "[unit]") {
    for (const char* line :
         {"curl: (22) The requested URL returned error: 429",
          "curl: (22) The requested URL returned error: 429 X",
          "curl: (56) CONNECT tunnel failed, response 429",
          "curl: (56) Received HTTP code 429 from proxy after CONNECT",
          "fatal: unable to access 'https://h/x.git/': The requested URL returned error: 429",
          "error: RPC failed; HTTP 429 curl 22 The requested URL returned error: 429",
          "2026-11-30 12:00:00 ERROR 429: Too Many Requests.",
          "gh: API rate limit exceeded (HTTP 429)",
          "gh: You have exceeded a secondary rate limit. (HTTP 403)",
          "http: warning: HTTP 429 Too Many Requests",
          "https: LogLevel.WARNING: HTTP 429 Too Many Requests",
          "xh: warning: HTTP 429 Too Many Requests",
          "npm error code E429",
          "npm ERR! code E429",
          "  ERROR: HTTP error 429 while getting http://h/x.whl",
          "requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: https://h/",
          "httpx.HTTPStatusError: Client error '429 Too Many Requests' for url 'https://h/'",
          "urllib.error.HTTPError: HTTP Error 429: Too Many Requests",
          "ERROR: [x] y: Unable to download webpage: HTTP Error 429: Too Many Requests",
          "Error from server (TooManyRequests): the server has received too many requests",
          "An error occurred (ThrottlingException) when calling the ListTables operation: Rate exceeded",
          "fatal error: An error occurred (SlowDown) when calling the ListObjectsV2 operation: Slow down",
          "upload failed: ./x to s3://b/x An error occurred (SlowDown) when calling the PutObject operation: "
          "Slow",
          "botocore.exceptions.ClientError: An error occurred (Throttling) when calling the X operation: "
          "Rate exceeded",
          "toomanyrequests: You have reached your pull rate limit.",
          "docker: Error response from daemon: toomanyrequests: You have reached your pull rate limit."}) {
        CAPTURE(line);
        const std::string text = "before\n" + std::string(line) + "\nafter\n";
        const Verdict verdict = judge("", 1, text);
        CHECK(verdict.refused);
        CHECK(verdict.pause == 60s);
        CHECK_FALSE(verdict.asked);
        CHECK(verdict.evidence.source == Evidence::Source::err);
        CHECK(verdict.evidence.line == line);
        CHECK_THAT(verdict.evidence.reason, Catch::Matchers::StartsWith("said by "));
        CHECK(judge("", 1, line).refused);                             // without a line feed
        CHECK_FALSE(judge("", 0, text).pause);                         // it got through
        CHECK_FALSE(judge(text, 1).pause);                             // printed, not said
        CHECK_FALSE(judge("", 1, "log: " + std::string(line)).pause);  // quoted by another
    }
}

TEST_CASE("refusal: error lines of clients that say something else", "[unit]") {
    for (const char* line :
         {"curl: (22) The requested URL returned error: 404",
          "curl: (22) The requested URL returned error: 4290",
          "curl: (28) Operation timed out after 429 milliseconds", "curl: (56) Recv failure: 429 bytes",
          "gh: Resource not accessible by integration (HTTP 403)", "gh: Not Found (HTTP 404)",
          "gh: see (HTTP 429) for more", "2026-11-30 12:00:00 ERROR 404: Not Found.",
          "http: warning: HTTP 4290", "http: warning: HTTP 404 Not Found", "npm error code E404",
          "ERROR: HTTP Error 4290", "toomanyrequests",
          "An error occurred (LimitExceededException) when calling the X operation: Too many",
          "An error occurred (LimitExceeded) when calling the CreateRole operation: quota",
          "An error occurred (AccessDenied) when calling the X operation: Throttling",
          "Error from server (NotFound): pods \"x\" not found",
          "fatal: unable to access 'https://h/': error: 403",
          "Warning: Problem : HTTP error. Will retry in 2 seconds. 1 retries left."}) {
        CAPTURE(line);
        CHECK_FALSE(judge("", 1, std::string(line) + "\n").pause);
    }
}

TEST_CASE("refusal: the pieces make no difference", "[unit]") {
    // Lines around the bounds, and everything that carries over from one line to the next.
    std::string text = "\x1b[1mstart\x1b[0m\r\n> GET / HTTP/1.1\r\n< HTTP/1.1 200 OK\r\n< \r\n";
    for (const std::size_t length : {255U, 256U, 257U, 8190U, 8191U, 8192U, 8193U, 20000U}) {
        text += head("200 OK", "", std::string(length, 'x')) +
                head("429 X", "Retry-After: " + std::to_string(length) + "\r\n");
    }
    const Verdict whole = judge(text, 0);
    REQUIRE(whole.pause == 20'000s);
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
        const std::size_t most = round % 3 == 0 ? 3 : round % 3 == 1 ? 300 : 9000;
        const std::string_view input = std::string_view(text).substr(random() % 70);
        const Verdict expected = judge(input.substr(0, input.size() - static_cast<std::size_t>(round)), 0);
        RefusalScanner scanner;
        std::string_view rest = input.substr(0, input.size() - static_cast<std::size_t>(round));
        while (!rest.empty()) {
            const std::size_t size = std::min(rest.size(), 1 + random() % most);
            scanner.feed(ScannedStream::out, rest.substr(0, size), after(0s));
            rest.remove_prefix(size);
        }
        const Verdict verdict = scanner.finish({0, after(0s)});
        REQUIRE(verdict.pause == expected.pause);
        REQUIRE(verdict.evidence.reason == expected.evidence.reason);
    }
}

TEST_CASE("refusal: random bytes never harm, and never pause", "[unit]") {
    std::mt19937 random(11);
    const std::string alphabet = std::string("\0\r\n\x1b[]<> :HTTP/1.2045 retry-after\xff\x80", 36);
    for (int round = 0; round < 200; ++round) {
        RefusalScanner scanner;
        for (int piece = 0; piece < 20; ++piece) {
            std::string bytes(random() % 300, '\0');
            for (char& c : bytes)
                c = round % 2 == 0 ? alphabet[random() % alphabet.size()] : static_cast<char>(random());
            scanner.feed(piece % 2 == 0 ? ScannedStream::out : ScannedStream::err, bytes, after(0s));
        }
        CHECK_FALSE(scanner.finish({round % 4 < 2 ? 0 : 1, after(0s)}).pause);
    }
}
