// SPDX-License-Identifier: MIT
// The FIFOs by which waiters are woken, one by one.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "contract/local_support.hpp"
#include "store/local/wake_files.hpp"
#include "support/catch.hpp"
#include "support/spawn.hpp"
#include "support/temp_dir.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using local::FilePlan;
using local::WakeFile;
using local::WakeFiles;

namespace {

bool is_readable(const WakeFile& file) {
    pollfd ready{file.fd(), POLLIN, 0};
    return poll(&ready, 1, 0) != 0;
}

WakeFile make_file(const WakeFiles& files, TicketId place) {
    auto file = WakeFile::make(files.path_of(place), FilePlan{});
    REQUIRE(file.has_value());
    return *std::move(file);
}

// The file of a waiter that was killed.
void leave_behind(const WakeFiles& files, TicketId place) {
    const int end = run_child([&] {
        const WakeFile file = *WakeFile::make(files.path_of(place), FilePlan{});
        kill(getpid(), SIGKILL);
        return 1;
    });
    REQUIRE(end == 128 + SIGKILL);
    REQUIRE(std::filesystem::exists(files.path_of(place)));
}

}  // namespace

TEST_CASE("wake files: readable once written to, and not before or after", "[contract]") {
    const TempDir folder;
    const WakeFiles files(folder.file("state"));
    CHECK(files.path_of(0xABCDEF) == folder.file("state.0000000000abcdef.wake"));
    CHECK(files.path_of(~TicketId{0}) == folder.file("state.ffffffffffffffff.wake"));
    {
        const WakeFile file = make_file(files, 7);
        CHECK((fcntl(file.fd(), F_GETFD) & FD_CLOEXEC) != 0);
        CHECK(file.is_in_place());
        CHECK_FALSE(is_readable(file));
        for (int round = 0; round < 2; ++round) {
            CHECK(files.wake(7));
            CHECK(files.wake(7));
            CHECK(is_readable(file));
            file.drain();
            CHECK_FALSE(is_readable(file));  // though a writer has come and gone
        }
        file.ring();
        CHECK(is_readable(file));
        CHECK_FALSE(files.wake(8));
    }
    CHECK(files_in(folder.path()).empty());
    CHECK_FALSE(files.wake(7));
}

TEST_CASE("wake files: one that is full has a living reader", "[contract]") {
    const TempDir folder;
    const WakeFiles files(folder.file("state"));
    const WakeFile file = make_file(files, 7);
    fcntl(file.fd(), F_SETPIPE_SZ, 4096);
    for (int i = 0; i < 5000; ++i)
        REQUIRE(files.wake(7));
    file.ring();
    file.drain();
    CHECK_FALSE(is_readable(file));
}

TEST_CASE("wake files: what nobody has open is dead, and is removed", "[contract]") {
    const TempDir folder;
    const WakeFiles files(folder.file("state")), others(folder.file("state2"));
    for (const TicketId place : {TicketId{1}, TicketId{2}, TicketId{3}})
        leave_behind(files, place);
    leave_behind(others, 1);
    const WakeFile live = make_file(files, 4);
    write_file(folder.file("state.mdb"), "");
    CHECK_FALSE(files.wake(1));
    CHECK_FALSE(std::filesystem::exists(files.path_of(1)));
    CHECK(std::filesystem::exists(files.path_of(2)));
    files.sweep();
    CHECK(files_in(folder.path()) == std::vector<std::string>{"state.0000000000000004.wake", "state.mdb",
                                                              "state2.0000000000000001.wake"});
    CHECK(files.wake(4));
}

TEST_CASE("wake files: a dead waiter's place is taken up again", "[contract]") {
    const TempDir folder;
    const WakeFiles files(folder.file("state"));
    leave_behind(files, 7);
    const WakeFile again = make_file(files, 7);
    CHECK(files.wake(7));
    CHECK(is_readable(again));
}

TEST_CASE("wake files: what stands in the place of one", "[contract]") {
    const TempDir folder;
    const WakeFiles files(folder.file("state"));
    const std::string path = files.path_of(7);
    SECTION("a file") {
        write_file(path, "text");
        CHECK_FALSE(files.wake(7));
    }
    SECTION("a symbolic link") {
        write_file(folder.file("precious"), "precious");
        std::filesystem::create_symlink(folder.file("precious"), path);
    }
    const WakeFile file = make_file(files, 7);
    CHECK(files.wake(7));
    CHECK(is_readable(file));
    if (std::filesystem::exists(folder.file("precious")))
        CHECK(read_file(folder.file("precious")) == "precious");
}

TEST_CASE("wake files: who lost its name, or is a copy in a child, removes nothing", "[contract]") {
    const TempDir folder;
    const WakeFiles files(folder.file("state"));
    auto old = std::make_unique<WakeFile>(make_file(files, 7));
    std::filesystem::remove(files.path_of(7));
    CHECK_FALSE(old->is_in_place());
    WakeFile file = make_file(files, 7);
    old.reset();
    CHECK(file.is_in_place());
    CHECK(run_child([&] {
              { const WakeFile copy = std::move(file); }
              return 0;
          }) == 0);
    CHECK(file.is_in_place());
    CHECK(files.wake(7));
}

TEST_CASE("wake files: have the rights that the store's files have", "[contract]") {
    const TempDir folder;
    const WakeFiles files(folder.file("state"));
    const mode_t before = umask(077);
    FilePlan plan;
    plan.mode = 0660;
    plan.group = getegid();
    const auto file = WakeFile::make(files.path_of(7), plan);
    umask(before);
    REQUIRE(file.has_value());
    struct stat status {};
    REQUIRE(stat(files.path_of(7).c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0660);
}
