// SPDX-License-Identifier: MIT
#include "support/nginx.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "base/text.hpp"
#include "support/net.hpp"

namespace jobthrottle::test {
namespace {

using namespace std::chrono_literals;

constexpr int k_port_tries = 20;
constexpr Duration k_start_limit = 60s;
constexpr Duration k_log_limit = 10s;
constexpr int k_look_every_ms = 5;

// try_files, and not return: the limit is looked at after `return` has answered.
constexpr std::string_view k_template = R"(daemon off;
worker_processes 1;
pid @DIR/pid;
error_log @DIR/error.log info;
@USER
events { worker_connections 1024; }
http {
    client_body_temp_path @DIR/body;
    proxy_temp_path @DIR/proxy;
    fastcgi_temp_path @DIR/fastcgi;
    uwsgi_temp_path @DIR/uwsgi;
    scgi_temp_path @DIR/scgi;
    log_format times '$msec $status';
    access_log @DIR/access.log times;
    limit_req_zone $binary_remote_addr zone=provider:1m rate=@RATEr/s;
    server {
        listen 127.0.0.1:@PORT backlog=1024;
        root @DIR/www;
        location / {
            limit_req zone=provider burst=1 nodelay;
            limit_req_status 429;
            default_type text/plain;
            try_files /answer =500;
        }
    }
}
)";

void replace_all(std::string& text, std::string_view what, std::string_view with) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
        text.replace(at, what.size(), with);
    }
}

std::string configuration(const std::string& dir, int per_second, std::uint16_t port) {
    std::string text(k_template);
    replace_all(text, "@DIR", dir);
    replace_all(text, "@USER", geteuid() == 0 ? "user root;" : "");
    replace_all(text, "@RATE", std::to_string(per_second));
    replace_all(text, "@PORT", std::to_string(port));
    return text;
}

std::vector<NginxLimiter::Answer> parse_log(const std::string& log) {
    std::vector<NginxLimiter::Answer> answers;
    // A last line without its end is still being written.
    std::istringstream lines(log.substr(0, log.rfind('\n') + 1));
    std::string seconds;
    for (int status = 0; lines >> seconds >> status;) {
        const std::vector<std::string_view> parts = split(seconds, '.');
        const auto whole = parse_whole_number(parts.at(0));
        const auto ms = parse_whole_number(parts.at(1));
        if (!whole || !ms) throw std::runtime_error("a time in the log of nginx: " + seconds);
        answers.push_back({std::chrono::seconds{*whole} + std::chrono::milliseconds{*ms}, status});
    }
    return answers;
}

std::string read_if_there(const std::string& path) {
    return std::filesystem::exists(path) ? read_file(path) : std::string();
}

}  // namespace

NginxLimiter::NginxLimiter(int per_second) {
    write_file(m_dir.file("error.log"), "");
    write_file(m_dir.file("access.log"), "");
    std::filesystem::create_directory(m_dir.file("www"));
    write_file(m_dir.file("www/answer"), "ok\n");
    for (int attempt = 0; attempt < k_port_tries; ++attempt) {
        if (try_start(per_second, spare_port())) return;
    }
    throw std::runtime_error("nginx did not start: " + read_file(m_dir.file("error.log")));
}

bool NginxLimiter::try_start(int per_second, std::uint16_t port) {
    write_file(m_dir.file("nginx.conf"), configuration(m_dir.path(), per_second, port));
    ProgramOptions options;
    options.timeout = std::chrono::hours{1};
    m_server.emplace(
        Argv{"nginx", "-p", m_dir.path(), "-c", m_dir.file("nginx.conf"), "-e", m_dir.file("error.log")},
        options);
    m_port = port;
    const BootTime until = BootClock::now() + k_start_limit;
    while (BootClock::now() < until) {
        m_server->service();
        if (m_server->ended()) break;
        // Its own pid file says that the one who listens there is this nginx and not another process.
        if (read_if_there(m_dir.file("pid")) == std::to_string(m_server->pid()) + "\n" &&
            connect_to_port(port)) {
            return true;
        }
        poll(nullptr, 0, k_look_every_ms);
    }
    m_server.reset();
    return false;
}

std::vector<NginxLimiter::Answer> NginxLimiter::answers(std::size_t at_least) const {
    const BootTime until = BootClock::now() + k_log_limit;
    for (;;) {
        std::vector<Answer> found = parse_log(read_file(m_dir.file("access.log")));
        if (found.size() >= at_least) return found;
        if (BootClock::now() >= until) {
            throw std::runtime_error("nginx has answered only " + std::to_string(found.size()) +
                                     " requests of " + std::to_string(at_least));
        }
        poll(nullptr, 0, k_look_every_ms);
    }
}

std::size_t count_of(const std::vector<NginxLimiter::Answer>& answers, int status) {
    return static_cast<std::size_t>(
        std::count_if(answers.begin(), answers.end(),
                      [&](const NginxLimiter::Answer& one) { return one.status == status; }));
}

}  // namespace jobthrottle::test
