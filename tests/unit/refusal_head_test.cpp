// SPDX-License-Identifier: MIT
#include <string>

#include "support/catch.hpp"
#include "unit/refusal_support.hpp"

using namespace jobthrottle;
using namespace jobthrottle::refusal_test;

TEST_CASE("refusal: where standard output and error are one, what counts on either counts", "[unit]") {
    const auto judged = [](const std::string& bytes, int exit_code) {
        RefusalScanner scanner;
        scanner.feed(ScannedStream::both, bytes, after(0s));
        return scanner.finish({exit_code, after(0s)});
    };
    const std::string curl = "curl: (22) The requested URL returned error: 429";
    CHECK(judged("some body\n" + curl + "\n", 22).refused);
    CHECK(judged(curl, 22).evidence.source == Evidence::Source::both);
    CHECK_FALSE(judged(curl, 0).pause);
    CHECK(judged(k_refused, 0).asked == 30s);                                // a head on output
    CHECK(judged("  HTTP/1.1 429 X\n  Retry-After: 7\n\n", 8).asked == 7s);  // wget -S
    CHECK(judged("working\nRetry-After: 9\n", 1).asked == 9s);               // the last line
    CHECK_FALSE(judged(k_refused + head("200 OK"), 0).pause);                // got through
}

TEST_CASE("refusal: values and lines without end stay bounded and do no harm", "[unit]") {
    const std::string digits(5000, '7');
    const Verdict cut = judge(head("429 X", "Retry-After: " + digits + "\r\n"), 0);
    CHECK(cut.refused);
    CHECK(cut.pause == 60s);
    CHECK(cut.ill_formed.size() <= 100);
    const std::string long_status = "HTTP/1.1 429 " + std::string(3000, 'x');
    const Verdict verdict = judge(long_status + "\r\nRetry-After: 5\r\n\r\n", 0);
    CHECK(verdict.pause == 5s);
    CHECK(verdict.evidence.line.size() == 200);
    // A head's line may have 8192 bytes and no more, in whatever pieces.
    for (const std::size_t length : {8192U, 8193U}) {
        std::string line = "HTTP/1.1 429 ";
        line.resize(length - 1, 'x');
        RefusalScanner single;
        for (const char c : line + "\r\n")
            single.feed(ScannedStream::out, {&c, 1}, after(0s));
        CHECK(single.finish({0, after(0s)}).refused == (length == 8192));
        CHECK(judge(line + "\r\n", 0).refused == (length == 8192));
    }
    // A fold must not make a value valid by being cut.
    const std::string folded =
        "Retry-After: 5\r\n" + std::string(600, ' ') + "x" + std::string(600, 'y') + "\r\n";
    CHECK(judge(head("429 X", folded), 0).pause == 60s);
    std::string many;
    for (int i = 0; i < 300; ++i)
        many += "X-Field-" + std::to_string(i) + ": v\r\n";
    CHECK(judge(head("429 X", many + "Retry-After: 5\r\n"), 0).pause == 60s);
    CHECK(judge(head("429 X", "Retry-After: 5\r\n" + many), 0).pause == 5s);
}

TEST_CASE("refusal: which codes refuse", "[unit]") {
    const std::string delay = "Retry-After: 7\r\n";
    for (const char* code : {"403 X", "413 X", "429 X", "500 X", "503 X", "529 X"}) {
        CAPTURE(code);
        CHECK(judge(head(code, delay), 0).pause == 7s);
        CHECK(judge(head(code, "Retry-After-Ms: 7000\r\n"), 0).pause == 7s);
    }
    for (const char* code :
         {"100 X", "200 X", "202 X", "301 X", "304 X", "400 X", "401 X", "404 X", "408 X", "409 X"}) {
        CAPTURE(code);
        CHECK_FALSE(judge(head(code, delay), 1).pause);
    }
    for (const char* code : {"403 X", "413 X", "500 X", "503 X"}) {
        CAPTURE(code);
        CHECK_FALSE(judge(head(code), 1).pause);
        CHECK_FALSE(judge(head(code, "Retry-After: soon\r\n"), 1).pause);
        // These are on served answers and on faults alike.
        CHECK_FALSE(judge(head(code, "X-RateLimit-Reset-After: 5\r\nRateLimit: \"a\";r=0;t=5\r\n"), 1).pause);
    }
    const std::string used_up = "X-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 1796040060\r\n";
    CHECK(judge(head("403 X", used_up), 0).pause == 1min);
    CHECK(judge(head("403 X", "X-RateLimit-Remaining: 0.0\r\n"), 0).pause == 1min);
    CHECK_FALSE(judge(head("403 X", used_up + "X-Other-RateLimit-Remaining: 4\r\n"), 0).pause);
    CHECK_FALSE(judge(head("503 X", used_up), 0).pause);
    CHECK_FALSE(judge(head("200 X", used_up), 0).pause);
}

TEST_CASE("refusal: which field gives the delay", "[unit]") {
    const auto pause = [](const char* fields) { return judge(head("429 X", fields), 0).pause; };
    CHECK(pause("retry-after-ms: 1500\r\nretry-after: 9\r\n") == 1500ms);
    CHECK(pause("x-ms-retry-after-ms: 1500\r\nretry-after: 9\r\n") == 1500ms);
    CHECK(pause("retry-after: 9\r\nx-ratelimit-reset-after: 8\r\n") == 9s);
    CHECK(pause("x-ratelimit-reset-after: 8.5\r\nratelimit: \"a\";r=0;t=7\r\n") == 8500ms);
    CHECK(pause("ratelimit: \"a\";r=0;t=7, \"b, c;r=0;t=99;x\";r=0;t=9, d;r=5;t=60\r\n") == 9s);
    CHECK(pause("ratelimit: \"a\";t=7;r=0;w=100\r\nratelimit-policy: \"a\";q=1;w=100\r\n") == 7s);
    CHECK(pause("ratelimit: limit=100, remaining=0, reset=30\r\n") == 60s);
    CHECK(pause("ratelimit-remaining: 0\r\nratelimit-reset: 41\r\n") == 41s);
    CHECK(pause("ratelimit-remaining: 0\r\nx-ratelimit-reset: 41\r\n") == 60s);
    CHECK(pause("x-ratelimit-remaining: 3\r\nx-ratelimit-reset: 41\r\n") == 60s);
    CHECK(pause("x-ratelimit-reset: 41\r\n") == 60s);
    CHECK(pause("x-rate-limit-remaining: 0\r\nx-rate-limit-reset: 41\r\n") == 41s);
    CHECK(pause("ratelimit-remaining: 0;w=21600\r\nratelimit-reset: 41\r\n") == 60s);
    CHECK(pause("retry-after: 10\r\nretry-after: soon\r\nretry-after: 90\r\n") == 90s);
    // A server's moments are on the server's clock.
    CHECK(pause("retry-after: Mon, 30 Nov 2026 12:06:00 GMT\r\ndate: Mon, 30 Nov 2026 12:05:00 GMT\r\n") ==
          1min);
    CHECK(pause("retry-after: Mon, 30 Nov 2026 12:01:00 GMT\r\ndate: yesterday\r\n") == 1min);
}

TEST_CASE("refusal: a head needs CR LF or a failed command", "[unit]") {
    const std::string bare = "HTTP/1.1 429 Too Many Requests\nRetry-After: 30\n\n";
    CHECK_FALSE(judge(bare, 0).pause);
    CHECK(judge(bare, 1).pause == 30s);
    // Any line of it will do, the blank one too.
    CHECK(judge("HTTP/1.1 429 X\nRetry-After: 30\r\n\n", 0).pause == 30s);
    CHECK(judge("HTTP/1.1 429 X\nRetry-After: 30\n\r\n", 0).pause == 30s);
    CHECK_FALSE(judge("HTTP/1.1 429 X\nRetry-After: 30\nno field\r\n", 0).pause);
    // A bare head that was accepted does not clear one that was surely refused, unless the command failed.
    CHECK(judge(k_refused + "HTTP/1.1 200 OK\n\n", 0).pause == 30s);
    CHECK_FALSE(judge(k_refused + "HTTP/1.1 200 OK\n\n", 1).pause);
}

TEST_CASE("refusal: a head ends where a line is no field", "[unit]") {
    const std::string delay = "Retry-After: 5\r\n";
    CHECK(judge(head("429 X", "Retry-After : 9\r\n" + delay), 0).pause == 60s);
    CHECK(judge(head("429 X", " folded to nothing\r\n" + delay), 0).pause == 60s);
    CHECK(judge(head("429 X", "A: \x01\r\n" + delay), 0).pause == 60s);
    CHECK(judge(head("429 X", "no field\r\n" + delay), 0).pause == 60s);
    CHECK(judge(head("429 X", "\r\n" + delay), 0).pause == 60s);
    CHECK(judge(head("429 X", delay + "A: b\r\n c\r\n"), 0).pause == 5s);  // a fold of another field
    CHECK_FALSE(judge(head("429 a\x01z", delay + "A: b\r\n"), 1).pause);
    for (const char* none : {"000 X", "099 X", "600 X", "999 X"}) {
        CAPTURE(none);
        CHECK_FALSE(judge(head(none, delay + "A: b\r\n"), 1).pause);
        CHECK(judge(k_refused + head(none), 0).refused);
    }
}

TEST_CASE("refusal: output that is cut off", "[unit]") {
    CHECK(judge("HTTP/1.1 429 X", 1).pause == 60s);
    CHECK_FALSE(judge("HTTP/1.1 429 X\r", 0).pause);
    CHECK(judge("HTTP/1.1 429 X\r\nRetry-After: 30", 0).pause == 60s);  // might have gone on
    CHECK(judge("HTTP/1.1 429 X\r\nRetry-After: 30\r\nX-Req", 0).pause == 30s);
    CHECK(judge("HTTP/1.1 429 X\r\nRetry-After:\r\n 30", 0).pause == 60s);
    CHECK(judge("HTTP/1.1 429 X\r\nRetry-After:\r\n 30\r\n", 0).pause == 30s);
    CHECK_FALSE(judge("HTTP/1.1 42", 1).pause);
}

TEST_CASE("refusal: curl -v, wget -S, httpie in colours", "[unit]") {
    const std::string request = "> GET /v1/items HTTP/1.1\r\n> Host: x\r\n> \r\n";
    const std::string received = "< HTTP/1.1 429 X\r\n* remark\n< Retry-After: 30\r\n< \r\n";
    CHECK(judge("", 0, request + received).pause == 30s);
    CHECK(judge(request + received, 0).pause == 30s);
    CHECK_FALSE(judge("", 1, received).pause);
    for (const char* other :
         {"> QUIT\n", "> GET\n", "> GET \n", "> GET  HTTP/1.1\n", "> GET / HTTP\n", "> get / HTTP/1.1\n",
          "> GO / HTTP/1.1\n", ">GET / HTTP/1.1\n", "x> GET / HTTP/1.1\n"}) {
        CAPTURE(other);
        CHECK_FALSE(judge("", 1, other + received).pause);
    }
    CHECK_FALSE(judge("", 1, request + "< HTTP/1.1 200 OK\r\n< \r\n" + received).pause);
    CHECK(judge("", 1, request + "< HTTP/1.1 100 Continue\r\n< \r\n" + received).pause == 30s);
    const std::string meter =
        "\r  0     0    0     0    0     0      0      0 --:--:--  0:00:02 --:--:--     0";
    CHECK(judge("", 0, meter + request + meter + received).pause == 30s);
    CHECK(judge("", 0, meter + meter + meter + request + received).pause == 30s);

    const std::string wget = "  HTTP/1.1 429 X\n  Retry-After: 30\n2026-11-30 12:00:00 ERROR 429: X.\n";
    CHECK(judge("", 8, wget).pause == 30s);
    CHECK_FALSE(judge("", 0, wget).pause);
    CHECK_FALSE(judge(wget, 8).pause);
    const std::string awaiting = "HTTP request sent, awaiting response... \n";
    CHECK(judge(awaiting + wget, 8).pause == 30s);
    CHECK_FALSE(judge(awaiting + "\n" + wget, 8).pause);
    CHECK_FALSE(judge("", 8, "   HTTP/1.1 429 X\n   Retry-After: 30\n").pause);

    const std::string coloured =
        "\x1b[34mHTTP\x1b[39;49;00m/\x1b[34m1.1\x1b[39;49;00m 429 \x1b[36mToo Many\x1b[39;49;00m\n"
        "\x1b[36mRetry-After\x1b[39;49;00m: 30\r\x1b[0m\n\n";
    CHECK(judge(coloured, 0).pause == 30s);
    CHECK(judge("\x1b]0;title\x07" + k_refused, 0).pause == 30s);
    CHECK(judge("\x1b]0;title\x1b\\" + k_refused, 0).pause == 30s);
}

TEST_CASE("refusal: a status line glued to the end of a body", "[unit]") {
    const std::string first = head("200 OK", "", "page");
    CHECK(judge(first + k_refused, 0).pause == 30s);
    CHECK(judge(head("200 OK", "", "{\"a\":\"HTTP/1.1\"}") + k_refused, 0).pause == 30s);
    CHECK_FALSE(judge("page" + k_refused, 1).refused);                        // no head before
    CHECK_FALSE(judge(head("200 OK", "", "say \"") + k_refused, 0).pause);    // quoted
    CHECK_FALSE(judge(head("200 OK", "", "say ") + k_refused, 0).pause);      // in a sentence
    CHECK_FALSE(judge(head("200 OK", "", "pageHTTP/1.1 429 X\n"), 1).pause);  // no CR LF
    // However long the body is.
    const std::string page(100'000, 'x');
    CHECK(judge(head("200 OK", "", page) + k_refused, 0).pause == 30s);
    CHECK_FALSE(judge(k_refused + head("500 X", "", page) + head("200 OK"), 0).pause);
}

TEST_CASE("refusal: through a terminal a CR LF is only a line feed", "[unit]") {
    RefusalRules rules;
    rules.out_through_terminal = true;
    CHECK_FALSE(judge("HTTP/1.1 429 X\r\nRetry-After: 30\r\n\r\n", 0, "", rules).pause);
    CHECK(judge("HTTP/1.1 429 X\r\r\nRetry-After: 30\r\r\n\r\r\n", 0, "", rules).pause == 30s);
    CHECK(judge("Retry-After: 30\r\n", 0, "", rules).pause == 30s);
}
