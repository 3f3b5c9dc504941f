// SPDX-License-Identifier: MIT
#include "support/pty.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace jobthrottle::test {

using namespace std::chrono_literals;

namespace {

[[noreturn]] void become(const Argv& argv, const std::map<std::string, std::string>& env) {
    for (const auto& [name, value] : env)
        setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> pointers;
    for (const auto& argument : argv)
        pointers.push_back(const_cast<char*>(argument.c_str()));
    pointers.push_back(nullptr);
    close_range(3, ~0U, 0);
    // The test runner's own signals are not the program's.
    for (int signal = 1; signal <= SIGRTMAX; ++signal)
        std::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execvp(pointers[0], pointers.data());
    _exit(127);
}

}  // namespace

Pty::Pty(const Argv& argv, const std::map<std::string, std::string>& env) {
    termios settings{};
    settings.c_iflag = ICRNL;
    settings.c_cflag = CS8 | CREAD;
    settings.c_lflag = ISIG | ICANON | IEXTEN;
    settings.c_cc[VINTR] = 3;
    settings.c_cc[VQUIT] = 28;
    settings.c_cc[VSUSP] = 26;
    settings.c_cc[VEOF] = 4;
    settings.c_cc[VMIN] = 1;
    winsize size{24, 80, 0, 0};
    int master = -1;
    m_pid = forkpty(&master, nullptr, &settings, &size);
    if (m_pid < 0) throw std::runtime_error(std::string("no terminal: ") + std::strerror(errno));
    if (m_pid == 0) become(argv, env);
    m_master.reset(master);
    fcntl(master, F_SETFD, FD_CLOEXEC);
}

Pty::~Pty() {
    m_master.reset();
    if (m_pid < 0) return;
    kill(-m_pid, SIGKILL);
    kill(m_pid, SIGKILL);
    while (waitpid(m_pid, nullptr, 0) < 0 && errno == EINTR) {
    }
}

void Pty::send(std::string_view keys) {
    if (write(m_master.get(), keys.data(), keys.size()) != static_cast<ssize_t>(keys.size()))
        fail("cannot send keys");
}

void Pty::resize(unsigned short columns, unsigned short rows) {
    const winsize size{rows, columns, 0, 0};
    if (ioctl(m_master.get(), TIOCSWINSZ, &size) != 0) fail("cannot resize");
}

std::string Pty::read_line(Duration timeout) {
    const auto until = BootClock::now() + timeout;
    while (true) {
        const auto end = m_screen.find('\n', m_read);
        if (end != std::string::npos) {
            const auto line = m_screen.substr(m_read, end - m_read);
            m_read = end + 1;
            return line;
        }
        if (!read_more(until)) fail("no further line");
    }
}

void Pty::wait_for(std::string_view text, Duration timeout) {
    const auto until = BootClock::now() + timeout;
    while (true) {
        const auto at = m_screen.find(text, m_read);
        if (at != std::string::npos) {
            m_read = at + text.size();
            return;
        }
        if (!read_more(until)) fail("\"" + std::string(text) + "\" did not come");
    }
}

int Pty::wait(Duration timeout) {
    const auto until = BootClock::now() + timeout;
    int status = 0;
    // The screen has to be read on, or the program could block in writing to it.
    while (waitpid(m_pid, &status, WNOHANG) == 0) {
        if (BootClock::now() >= until) fail("the program does not end");
        if (!read_more(std::min(until, BootClock::now() + 10ms))) poll(nullptr, 0, 5);
    }
    m_pid = -1;
    while (read_more(BootClock::now())) {
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// False when the time is over, or nothing is left and nobody to write any more.
bool Pty::read_more(BootTime until) {
    while (true) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - BootClock::now());
        pollfd ready{m_master.get(), POLLIN, 0};
        const int found = poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
        if (found == 0) return false;
        std::array<char, 4096> buffer{};
        const ssize_t got = read(m_master.get(), buffer.data(), buffer.size());
        if (got > 0) {
            m_screen.append(buffer.data(), static_cast<std::size_t>(got));
            return true;
        }
        if (got == 0 || errno != EINTR) return false;
    }
}

void Pty::fail(const std::string& what) const {
    throw std::runtime_error("terminal: " + what + "; the screen holds:\n" + m_screen);
}

}  // namespace jobthrottle::test
