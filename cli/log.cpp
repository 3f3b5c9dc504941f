// SPDX-License-Identifier: MIT
#include "cli/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "base/text.hpp"

namespace jobthrottle {

namespace {

std::unique_ptr<spdlog::logger>& logger() {
    static std::unique_ptr<spdlog::logger> the_logger;
    return the_logger;
}

}  // namespace

void start_debug_log() {
    auto sink = std::make_shared<spdlog::sinks::stderr_sink_st>();
    logger() = std::make_unique<spdlog::logger>("jobthrottle", std::move(sink));
    logger()->set_pattern("%n: debug: %H:%M:%S.%e %v");
    logger()->set_level(spdlog::level::debug);
    logger()->flush_on(spdlog::level::debug);
}

bool debug_log_is_on() {
    return logger() != nullptr;
}

void debug(const std::string& text) {
    if (debug_log_is_on()) logger()->debug(escape_for_display(text));
}

}  // namespace jobthrottle
