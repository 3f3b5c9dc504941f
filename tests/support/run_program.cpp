// SPDX-License-Identifier: MIT
#include "support/run_program.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "support/spawn.hpp"

namespace jobthrottle::test {
namespace {

using namespace std::chrono_literals;

// How often to look after the process where the kernel gives no descriptor for it.
constexpr Duration k_look_every = 2ms;

std::vector<std::string> environment(const std::map<std::string, std::string>& given) {
    std::map<std::string, std::string> all = given;
    all.emplace("HOME", "/nonexistent");
    const char* path = std::getenv("PATH");
    all.emplace("PATH", path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
    for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "ASAN_SYMBOLIZER_PATH"}) {
        if (const char* value = std::getenv(name); value != nullptr) all.emplace(name, value);
    }
    std::vector<std::string> result;
    for (const auto& [name, value] : all)
        result.push_back(name + "=" + value);
    return result;
}

Fd open_file(const std::string& path) {
    Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) throw std::runtime_error("cannot open " + path + ": " + std::strerror(errno));
    return above_standard(std::move(fd));
}

// Takes what is there, until it would block; closes the descriptor at the end of the stream.
void drain(Fd& fd, std::string& text) {
    std::array<char, 65536> buffer;
    while (fd) {
        const ssize_t got = read(fd.get(), buffer.data(), buffer.size());
        if (got > 0) {
            text.append(buffer.data(), static_cast<std::size_t>(got));
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            fd.reset();
        } else if (errno == EAGAIN) {
            return;
        }
    }
}

// write() to a pipe whose reader may be gone, without a SIGPIPE for the test.
ssize_t write_quietly(int fd, std::string_view bytes) {
    sigset_t pipe_signal;
    sigset_t before;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    const ssize_t put = write(fd, bytes.data(), bytes.size());
    const int error = errno;
    if (put < 0 && error == EPIPE && sigismember(&before, SIGPIPE) == 0) {
        const timespec at_once{0, 0};
        sigtimedwait(&pipe_signal, nullptr, &at_once);
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
    return put;
}

void add(std::vector<pollfd>& fds, const Fd& fd, short events) {
    if (fd) fds.push_back({fd.get(), events, 0});
}

}  // namespace

std::string describe(const ProgramResult& result) {
    std::string text = result.signal != 0 ? "signal " + std::to_string(result.signal)
                                          : "exit code " + std::to_string(result.code);
    text += " after " + std::to_string(result.elapsed().count() / 1000) + " ms";
    return text + "\n--- out\n" + result.out + "\n--- err\n" + result.err;
}

Program::Program(const Argv& argv, ProgramOptions options)
    : m_options(std::move(options)), m_name(argv.at(0)) {
    start(argv);
}

Program::~Program() {
    if (pid() < 0) return;
    if (!m_ended) ::kill(pid(), SIGKILL);
    if (m_options.own_group) ::kill(-pid(), SIGKILL);
    while (!m_ended && waitpid(pid(), nullptr, 0) < 0 && errno == EINTR) {
    }
}

void Program::start(const Argv& argv) {
    SpawnPlan plan{argv,
                   environment(m_options.env),
                   m_options.cwd,
                   -1,
                   -1,
                   -1,
                   m_options.own_group,
                   m_options.die_with_parent,
                   m_options.keep_fds,
                   m_options.ignored_signals};
    Fd in;
    if (m_options.input_from == Input::null) in = open_file("/dev/null");
    if (m_options.input_from == Input::file) in = open_file(m_options.input);
    if (m_options.input_from == Input::pipe || m_options.input_from == Input::open) {
        Pipe pipe = make_pipe();
        in = std::move(pipe.read_end);
        m_in = std::move(pipe.write_end);
        set_nonblocking(m_in.get());
        m_unsent = m_options.input;
        m_close_when_sent = m_options.input_from == Input::pipe;
    }
    Pipe out = make_pipe();
    Pipe err = make_pipe();
    plan.in = in.get();
    plan.out = out.write_end.get();
    plan.err = m_options.err_to_out ? plan.out : err.write_end.get();
    m_result.started = BootClock::now();
    m_deadline = m_result.started + m_options.timeout;
    m_pid.value = spawn(plan);
    m_pidfd.reset(static_cast<int>(syscall(SYS_pidfd_open, pid(), 0)));
    m_out = std::move(out.read_end);
    m_err = std::move(err.read_end);
    set_nonblocking(m_out.get());
    set_nonblocking(m_err.get());
    write_input();
}

void Program::kill(int signal) const {
    if (!m_ended) ::kill(pid(), signal);
}

void Program::kill_group(int signal) const {
    ::kill(-pid(), signal);
}

void Program::freeze() const {
    kill(SIGSTOP);
    siginfo_t info{};
    while (waitid(P_PID, static_cast<id_t>(pid()), &info, WSTOPPED | WEXITED | WNOWAIT) < 0 &&
           errno == EINTR) {
    }
}

void Program::send(std::string_view bytes) {
    m_unsent += bytes;
    write_input();
}

void Program::close_input() {
    m_close_when_sent = true;
    write_input();
}

void Program::write_input() {
    while (m_in && !m_unsent.empty()) {
        const ssize_t put = write_quietly(m_in.get(), m_unsent);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0 && errno == EAGAIN) return;
        if (put < 0) m_in.reset();
        m_unsent.erase(0, put < 0 ? m_unsent.size() : static_cast<std::size_t>(put));
    }
    if (m_close_when_sent) m_in.reset();
}

bool Program::reap() {
    int status = 0;
    if (waitpid(pid(), &status, WNOHANG) != pid()) return false;
    m_result.ended = BootClock::now();
    m_ended = true;
    m_in.reset();
    if (WIFSIGNALED(status)) {
        m_result.signal = WTERMSIG(status);
    } else {
        m_result.code = WEXITSTATUS(status);
    }
    return true;
}

void Program::service_once() {
    if (m_ended) return;
    write_input();
    reap();
    // After the end too: all that the process wrote is in the pipes by now.
    drain(m_out, m_result.out);
    drain(m_err, m_result.err);
}

void Program::service() {
    service_once();
    if (!m_ended && BootClock::now() >= m_deadline) fail("has not ended in time");
}

void Program::add_poll_fds(std::vector<pollfd>& fds) const {
    if (m_ended) return;
    add(fds, m_pidfd, POLLIN);
    add(fds, m_out, POLLIN);
    add(fds, m_err, POLLIN);
    if (!m_unsent.empty()) add(fds, m_in, POLLOUT);
}

void Program::wait_step(BootTime until) {
    std::vector<pollfd> fds;
    add_poll_fds(fds);
    Duration left = std::min(until, m_deadline) - BootClock::now();
    if (!m_pidfd) left = std::min(left, k_look_every);
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    poll(fds.data(), fds.size(), static_cast<int>(std::max<std::int64_t>(ms, 0)));
    service();
}

void Program::fail(const std::string& what) {
    if (!m_ended) ::kill(pid(), SIGKILL);
    if (m_options.own_group) ::kill(-pid(), SIGKILL);
    throw std::runtime_error(m_name + " " + what + "\n--- out\n" + m_result.out + "\n--- err\n" +
                             m_result.err);
}

std::string Program::read_line(Duration timeout) {
    const BootTime until = BootClock::now() + timeout;
    for (;;) {
        const std::size_t end = m_result.out.find('\n', m_read);
        if (end != std::string::npos) {
            std::string line = m_result.out.substr(m_read, end - m_read);
            m_read = end + 1;
            return line;
        }
        if (m_ended || !m_out) fail("ended before a line was complete");
        if (BootClock::now() >= until) fail("wrote no line in time");
        wait_step(until);
    }
}

void Program::wait_for_err(std::string_view text, Duration timeout) {
    const BootTime until = BootClock::now() + timeout;
    while (m_result.err.find(text) == std::string::npos) {
        if (m_ended) fail("ended without writing: " + std::string(text));
        if (BootClock::now() >= until) fail("did not write in time: " + std::string(text));
        wait_step(until);
    }
}

ProgramResult Program::wait() {
    while (!m_ended)
        wait_step(m_deadline);
    return m_result;
}

ProgramResult run_program(const Argv& argv, ProgramOptions options) {
    return Program(argv, std::move(options)).wait();
}

Program start_program(const Argv& argv, ProgramOptions options) {
    return Program(argv, std::move(options));
}

}  // namespace jobthrottle::test
