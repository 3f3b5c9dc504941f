// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/time.hpp"

namespace jobthrottle::test {

struct HttpRequest {
    std::size_t number = 0;  // 1 for the first that arrived
    BootTime at;             // when its head was complete
    std::string method;
    std::string path;
    std::string head;  // all of the head, as it came
};

struct HttpAnswer {
    int status = 200;
    std::vector<std::string> headers;  // "Name: value"
    std::string body = "ok\n";
};

struct HttpRecord {
    HttpRequest request;
    HttpAnswer answer;
};

// A provider that answers as a test says, on a port of 127.0.0.1, one request a connection, from a thread of
// its own. Content-Length and Connection: close are added to what the handler gives.
class HttpServer {
public:
    // Called in the server's thread, one request at a time.
    using Handler = std::function<HttpAnswer(const HttpRequest&)>;

    explicit HttpServer(Handler handler);
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;
    ~HttpServer();

    std::string url(const std::string& path = "/") const;
    // What arrived so far, in that order; an answer is recorded before it is sent.
    std::vector<HttpRecord> records() const;

private:
    struct Loop;
    std::unique_ptr<Loop> m_loop;
};

}  // namespace jobthrottle::test
