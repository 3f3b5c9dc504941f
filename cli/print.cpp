// SPDX-License-Identifier: MIT
#include "cli/print.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace jobthrottle {

namespace {

bool write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

int width_of(int fd) {
    constexpr int k_usual = 80;
    winsize size{};
    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return k_usual;
    return size.ws_col;
}

}  // namespace

void say_raw(std::string_view text) {
    (void)write_all(STDERR_FILENO, text);
}

void say(const Line& line) {
    say_raw(render(line, error_is_terminal()) + "\n");
}

bool error_is_terminal() {
    static const bool terminal = isatty(STDERR_FILENO) == 1;
    return terminal;
}

bool output_is_terminal() {
    return isatty(STDOUT_FILENO) == 1;
}

int output_width() {
    return width_of(STDOUT_FILENO);
}

int error_width() {
    return width_of(STDERR_FILENO);
}

bool print(std::string_view text) {
    if (write_all(STDOUT_FILENO, text)) return true;
    say(say_error(internal_error(std::string("cannot write to standard output: ") + std::strerror(errno))));
    return false;
}

int exit_code_of(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::usage:
            return 64;
        case ErrorKind::config:
            return 78;
        case ErrorKind::unavailable:
        case ErrorKind::refused:
            return 69;
        case ErrorKind::interrupted:
        case ErrorKind::internal:
            break;
    }
    return 125;
}

int exit_with(const Error& error) {
    say(say_error(error));
    return exit_code_of(error.kind);
}

}  // namespace jobthrottle
