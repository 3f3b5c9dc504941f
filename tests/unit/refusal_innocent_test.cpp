// SPDX-License-Identifier: MIT
// Output that speaks of rate limits and is none: false alarms are worse than misses.
#include <chrono>
#include <string>
#include <vector>

#include "core/refusal/scanner.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;

namespace {

struct Text {
    const char* what;
    std::string bytes;
};

const std::vector<Text>& innocent_texts() {
    static const std::vector<Text> texts = {
        {"a manual page",
         "RETRY(1)\n\nNAME\n       retry - wait when the server says so\n\nDESCRIPTION\n"
         "       When the answer is HTTP/1.1 429 Too Many Requests the value of\n"
         "       Retry-After: is honoured, for example Retry-After: 120.\n\n"
         "       HTTP/1.1 429 Too Many Requests\n       Retry-After: 120\n\nEXIT STATUS\n       75 when "
         "refused\n"},
        {"a document with an indented block",
         "# Limits\n\nA refused call looks so:\n\n    $ curl -i https://api.example.com/v1/items\n"
         "    HTTP/1.1 429 Too Many Requests\n    Content-Type: application/json\n    Retry-After: 30\n\n"
         "    {\"error\":\"slow down\"}\n\nWait as long as `Retry-After` says.\n"},
        {"the same with CR LF",
         "# Limits\r\n\r\n    HTTP/1.1 429 Too Many Requests\r\n    Retry-After: 30\r\n    \r\nWait.\r\n"},
        {"a list of status codes",
         "408 Request Timeout\n413 Content Too Large\n429 Too Many Requests\n503 Service Unavailable\n"},
        {"source code",
         "static const char k_refused[] =\n    \"HTTP/1.1 429 Too Many Requests\\r\\n\"\n"
         "    \"Retry-After: 30\\r\\n\"\n    \"\\r\\n\";\nif (status == 429) sleep(retry_after);\n"},
        {"a server's configuration",
         "limit_req_zone $binary_remote_addr zone=api:10m rate=5r/s;\nlimit_req_status 429;\n"
         "add_header Retry-After 30 always;\n"},
        {"an API description",
         "responses:\n  '429':\n    description: Too Many Requests\n    headers:\n      Retry-After:\n"
         "        schema: {type: integer, example: 30}\n"},
        {"a JSON document",
         "{\"status\":429,\"headers\":{\"Retry-After\":\"30\"},\"message\":\"rate limit exceeded\"}\n"},
        {"an access log",
         "192.0.2.1 - - [30/Nov/2026:12:00:00 +0000] \"GET /v1/items HTTP/1.1\" 429 38 \"-\" "
         "\"curl/7.88.1\"\n"
         "192.0.2.1 - - [30/Nov/2026:12:00:01 +0000] \"GET /v1/items HTTP/1.1\" 200 512 \"-\" "
         "\"curl/7.88.1\"\n"},
        {"a log with its own prefix",
         "2026-11-30T12:00:00Z web-1 HTTP/1.1 429 Too Many Requests\n2026-11-30T12:00:00Z web-1 Retry-After: "
         "30\n"
         "[12:00:00] < HTTP/1.1 429 Too Many Requests\n[12:00:00] < Retry-After: 30\n"},
        {"a diff",
         "1,3c1,3\n< HTTP/1.1 429 Too Many Requests\n< Retry-After: 30\n< \n---\n> HTTP/1.1 200 OK\n> "
         "Server: x\n> \n"},
        {"a diff with CR LF",
         "< HTTP/1.1 429 Too Many Requests\r\n< Retry-After: 30\r\n---\r\n> HTTP/1.1 200 OK\r\n"},
        {"a patch",
         "--- a/t\n+++ b/t\n@@ -1,2 +1,2 @@\n-HTTP/1.1 200 OK\n+HTTP/1.1 429 Too Many "
         "Requests\n+Retry-After: 30\n"},
        {"a quoted mail",
         "> HTTP/1.1 429 Too Many Requests\n> Retry-After: 30\n>\n> What does this mean?\nWait.\n"},
        {"grep over the sources",
         "docs/limits.md:4:HTTP/1.1 429 Too Many Requests\ndocs/limits.md:5:Retry-After: 30\n"},
        {"names of tests",
         "ok 1 - 429 with Retry-After: 30 waits\nnot ok 2 - Retry-After: soon is ill-formed\n"},
        {"a table",
         "| code | meaning | header |\n|---|---|---|\n| 429 | Too Many Requests | Retry-After: 30 |\n"},
        {"an HTML page",
         "<html><head><title>429 Too Many Requests</title></head>\n<body><h1>Too Many Requests</h1>\n"
         "<pre>HTTP/1.1 429 Too Many Requests\nRetry-After: 3600\n</pre></body></html>\n"},
        {"another protocol",
         "SIP/2.0 503 Service Unavailable\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n"},
        {"a status line that is none",
         "HTTP/1.1 4290 X\r\nRetry-After: 30\r\n\r\nHTTP/1.1 42\r\n\r\nHTTP/1.1  429 X\r\n\r\nhttp/1.1 429 "
         "X\r\n\r\n"
         "HTTP/1.2 429 X\r\n\r\nHTTP/1.1 429X\r\n\r\nHTTP/1.1 429\tX\r\n\r\nHTTP/1.1\r\n\r\nHTTP/4 429 "
         "X\r\n\r\n"},
        {"an answer that was served, and speaks of limits",
         "HTTP/1.1 200 OK\r\nRetry-After: 30\r\nX-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: "
         "1796043600\r\n\r\n"
         "The answer HTTP/1.1 429 is what you get\nRetry-After: 30\n"},
        {"a request that asks", "GET / HTTP/1.1\r\nRetry-After: 30\r\nHost: x\r\n\r\n"},
        {"a script that is traced",
         "+ printf 'HTTP/1.1 429 Too Many Requests\\r\\nRetry-After: 30\\r\\n\\r\\n'\n"},
        {"client lines in a sentence",
         "If you see\n  curl: (22) The requested URL returned error: 429\nor `gh: API rate limit exceeded "
         "(HTTP 429)`,\n"
         "or \"toomanyrequests: ...\" from docker, wait.\nThe line An error occurred (Throttling) when "
         "calling the X\n"},
        {"retries that a client speaks of",
         "Warning: Problem : HTTP error. Will retry in 2 seconds. 1 retries left.\n"
         "pacer: Rate limited, sleeping for 838ms\nWARN got 429 Too Many Requests, retrying in 30 seconds\n"},
    };
    return texts;
}

bool pauses(const std::string& bytes, ScannedStream stream, int exit_code) {
    const Moment now{BootTime{std::chrono::seconds{1000}}, WallTime{std::chrono::seconds{1'796'040'000}}};
    RefusalScanner scanner;
    scanner.feed(stream, bytes, now);
    return scanner.finish({exit_code, now}).pause.has_value();
}

}  // namespace

TEST_CASE("refusal: innocent texts never pause, whatever the exit code and the stream", "[unit]") {
    for (const Text& text : innocent_texts()) {
        for (const int exit_code : {0, 1}) {
            CAPTURE(text.what, exit_code);
            CHECK_FALSE(pauses(text.bytes, ScannedStream::out, exit_code));
            CHECK_FALSE(pauses(text.bytes, ScannedStream::err, exit_code));
            CHECK_FALSE(pauses(text.bytes, ScannedStream::both, exit_code));
        }
    }
}

TEST_CASE("refusal: all innocent texts in one output", "[unit]") {
    std::string all;
    for (const Text& text : innocent_texts())
        all += text.bytes;
    CHECK_FALSE(pauses(all, ScannedStream::out, 0));
    CHECK_FALSE(pauses(all, ScannedStream::err, 0));
    CHECK_FALSE(pauses(all, ScannedStream::both, 0));
    // The same means find a real one behind them.
    all += "HTTP/1.1 429 Too Many Requests\r\n\r\n";
    CHECK(pauses(all, ScannedStream::out, 0));
}

TEST_CASE("refusal: a document at column 0 with bare line feeds is a document while the command succeeds",
          "[unit]") {
    const std::string text = "Example:\n\nHTTP/1.1 429 Too Many Requests\nRetry-After: 30\n\n{}\n";
    CHECK_FALSE(pauses(text, ScannedStream::out, 0));
    CHECK(pauses(text, ScannedStream::out, 1));  // the known limit: httpx prints just this
}
