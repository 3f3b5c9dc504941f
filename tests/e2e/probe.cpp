// SPDX-License-Identifier: MIT
// The command that the tests of places run: its own clock says when it began and ended, and it counts how
// many of its kind live beside it. No library, so that its first act comes soon after its start.
//   probe NAME LOG HOLD_MS [PLACES COUNT] [ignore-term] [fail]
// LOG gets a line "NAME PID began US" (or "over US", where COUNT others live) and at the end "NAME PID ended
// US", in microseconds since boot. PLACES is a file whose bytes 1 .. COUNT they lock one each: a lock goes
// with its process, however that ends.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

timespec boot_time() {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return now;
}

void note(int log, const char* name, const char* what, const timespec& at) {
    char line[256];
    const int size = std::snprintf(line, sizeof line, "%s %d %s %lld\n", name, static_cast<int>(getpid()),
                                   what, static_cast<long long>(at.tv_sec) * 1'000'000 + at.tv_nsec / 1000);
    // One write at the end of the file is never torn.
    if (size > 0) (void)!write(log, line, static_cast<std::size_t>(size));
}

bool lock_byte(int fd, short type, int byte, int command) {
    struct flock lock {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = byte;
    lock.l_len = 1;
    while (fcntl(fd, command, &lock) != 0) {
        if (errno != EINTR) return false;
    }
    return true;
}

// Byte 0 makes the count one act: while one counts, others may go, but none comes.
bool take_place(const char* file, int count) {
    const int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || !lock_byte(fd, F_WRLCK, 0, F_SETLKW)) return false;
    bool taken = false;
    for (int byte = 1; byte <= count && !taken; ++byte)
        taken = lock_byte(fd, F_WRLCK, byte, F_SETLK);
    lock_byte(fd, F_UNLCK, 0, F_SETLK);
    return taken;
}

void sleep_until(timespec when) {
    while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &when, nullptr) == EINTR) {
    }
}

timespec after_ms(timespec from, long ms) {
    const long ns = from.tv_nsec + ms % 1000 * 1'000'000;
    from.tv_sec += ms / 1000 + ns / 1'000'000'000;
    from.tv_nsec = ns % 1'000'000'000;
    return from;
}

bool has_word(int argc, char** argv, const char* word) {
    for (int i = 4; i < argc; ++i) {
        if (std::strcmp(argv[i], word) == 0) return true;
    }
    return false;
}

}  // namespace

int main(int argc, char** argv) {
    const timespec began = boot_time();
    if (argc < 4) return 64;
    if (has_word(argc, argv, "ignore-term")) std::signal(SIGTERM, SIG_IGN);
    const int log = open(argv[2], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (log < 0) return 65;
    const int count = argc > 5 ? std::atoi(argv[5]) : 0;
    const bool has_room = count == 0 || take_place(argv[4], count);
    note(log, argv[1], has_room ? "began" : "over", began);
    sleep_until(after_ms(began, std::atol(argv[3])));
    const int code = has_word(argc, argv, "fail") ? 1 : 0;
    note(log, argv[1], "ended", boot_time());
    _exit(code);
}
