// SPDX-License-Identifier: MIT
// What the system refuses: an error in words, the state as it was, and never a crash.
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/fd.hpp"
#include "contract/local_support.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;

namespace {

void limit(int what, rlim_t to) {
    rlimit value{};
    getrlimit(static_cast<__rlimit_resource>(what), &value);
    value.rlim_cur = to;
    if (setrlimit(static_cast<__rlimit_resource>(what), &value) != 0) throw std::runtime_error("setrlimit");
}

// Registers keys until the system says no; what it said. At least `at_least` keys went before.
Error fill_up(const LocalOptions& options, int& registered) {
    const auto store = open_store(options);
    for (registered = 0; registered < 20'000; ++registered) {
        const auto key = key_named("filler " + std::to_string(registered));
        const auto done =
            store->set_registration(key, Registration{terms_of(rate_of(1, 1s)), 1, std::string(900, 'w')});
        if (!done) return done.error();
    }
    return internal_error("nothing was refused");
}

// For a child: prints what is wrong, so that the test's output has it.
int complain(const std::string& what) {
    std::fprintf(stderr, "child: %s\n", what.c_str());
    return 1;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// A file system of its own, small; is_mounted false where this process may not mount.
class SmallDisk {
public:
    explicit SmallDisk(const std::string& path) : m_path(path) {
        std::filesystem::create_directory(path);
        is_mounted = mount("tmpfs", path.c_str(), "tmpfs", 0, "size=256k,mode=0700") == 0;
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;
    ~SmallDisk() {
        if (is_mounted) umount2(m_path.c_str(), MNT_DETACH);
    }
    bool is_mounted = false;

private:
    std::string m_path;
};

}  // namespace

TEST_CASE("local: a file that may not grow", "[contract]") {
    const TempDir folder;
    LocalOptions options = options_in(folder.path());
    int notices = 0;
    options.notice = [&](const std::string&) { ++notices; };
    start_once(options);
    const int end = run_child([&] {
        signal(SIGXFSZ, SIG_DFL);
        limit(RLIMIT_FSIZE, 200'000);
        int registered = 0;
        const Error error = fill_up(options, registered);
        if (error.kind != ErrorKind::refused || !has(error.message, "ulimit -f"))
            return complain(error.message);
        if (registered < 20) return complain("refused after " + std::to_string(registered));
        const Error again = fill_up(options, registered);
        return again.kind == ErrorKind::refused ? 0 : complain(again.message);
    });
    CHECK(end == 0);
    const auto store = open_store(options);
    CHECK(store->inspect(key_named("k"))->started == 1);
    CHECK(store->keys("filler *")->size() >= 20);
    CHECK(store->set_registration(key_named("more"), Registration{terms_of(rate_of(1, 1s)), 1, "me"}).ok());
    CHECK(notices == 0);
}

TEST_CASE("local: a file that may not be made", "[contract]") {
    const TempDir folder;
    const LocalOptions options = options_in(folder.path());
    const int end = run_child([&] {
        signal(SIGXFSZ, SIG_DFL);
        limit(RLIMIT_FSIZE, 0);
        const auto answer = open_store(options)->registration(key_named("k"));
        if (answer || answer.error().kind != ErrorKind::refused) return complain("not refused");
        return has(answer.error().message, "ulimit -f") ? 0 : complain(answer.error().message);
    });
    CHECK(end == 0);
    CHECK(files_in(folder.path()) == std::vector<std::string>{"state.lock"});
    start_once(options);
}

TEST_CASE("local: a full disk", "[contract]") {
    const TempDir parent;
    const SmallDisk disk(parent.file("disk"));
    if (!disk.is_mounted) {
        WARN("may not mount a small file system; the test of a file that may not grow stands for this one");
        return;
    }
    LocalOptions options = options_in(parent.file("disk"));
    int notices = 0;
    options.notice = [&](const std::string&) { ++notices; };
    start_once(options);
    int registered = 0;
    const Error error = fill_up(options, registered);
    INFO(error.message);
    CHECK(error.kind == ErrorKind::refused);
    CHECK_THAT(error.message, Catch::Matchers::ContainsSubstring("the disk is full"));
    CHECK(registered >= 20);
    const auto registration = Registration{terms_of(rate_of(1, 1s)), 1, std::string(900, 'w')};
    int before_that = 0;
    CHECK(fill_up(options, before_that).kind == ErrorKind::refused);

    REQUIRE(mount("tmpfs", parent.file("disk").c_str(), "tmpfs", MS_REMOUNT, "size=8m") == 0);
    const auto store = open_store(options);
    CHECK(store->inspect(key_named("k"))->started == 1);
    CHECK(store->keys("filler *")->size() == static_cast<std::size_t>(std::max(registered, before_that)));
    CHECK(store->set_registration(key_named("again"), registration).ok());
    CHECK(notices == 0);
}

TEST_CASE("local: a disk that is full from the start", "[contract]") {
    const TempDir parent;
    const SmallDisk disk(parent.file("disk"));
    if (!disk.is_mounted) {
        WARN(
            "may not mount a small file system; the test of a file that may not be made stands for this one");
        return;
    }
    {
        const Fd ballast(open(parent.file("disk/ballast").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        const std::string page(4096, 'b');
        while (write(ballast.get(), page.data(), page.size()) > 0) {
        }
    }
    const LocalOptions options = options_in(parent.file("disk"));
    const auto answer = open_store(options)->registration(key_named("k"));
    REQUIRE_FALSE(answer);
    CHECK(answer.error().kind == ErrorKind::refused);
    CHECK_THAT(answer.error().message, Catch::Matchers::ContainsSubstring("the disk is full"));
    std::filesystem::remove(parent.file("disk/ballast"));
    start_once(options);
    CHECK(count_torn(parent.file("disk")) == 0);
}

TEST_CASE("local: folders and files without the right to write", "[contract]") {
    const TempDir parent;
    REQUIRE(chmod(parent.path().c_str(), 0755) == 0);
    const std::string empty = parent.file("empty"), used = parent.file("used");
    std::filesystem::create_directory(empty);
    std::filesystem::create_directory(used);
    start_once(options_in(used));
    for (const auto& folder : {empty, used})
        REQUIRE(chmod(folder.c_str(), 0555) == 0);
    for (const auto& name : files_in(used))
        REQUIRE(chmod((used + "/" + name).c_str(), 0444) == 0);
    const int end = run_child([&] {
        if (geteuid() == 0) become(k_some_user, k_some_group);
        for (const auto& folder : {empty, used}) {
            const auto answer = open_store(options_in(folder))->registration(key_named("k"));
            if (answer || answer.error().kind != ErrorKind::refused)
                return complain("not refused: " + folder);
            if (!has(answer.error().message, folder) || !has(answer.error().message, "Permission denied"))
                return complain(answer.error().message);
        }
        const auto made = open_local_store(options_in(empty + "/below"));
        if (made || made.error().kind != ErrorKind::refused) return complain("made a folder");
        return 0;
    });
    CHECK(end == 0);
    CHECK(files_in(empty).empty());
}

TEST_CASE("local: too few descriptors", "[contract]") {
    const TempDir folder;
    const LocalOptions options = options_in(folder.path());
    start_once(options);
    const int end = run_child([&] {
        const int lowest = dup(0) >= 0 ? dup(0) : 3;  // a test may run without standard streams
        int refused = 0;
        for (int room = 0; room < 40; ++room) {
            limit(RLIMIT_NOFILE, static_cast<rlim_t>(lowest + room));
            const auto store = open_store(options);
            const auto report = store->inspect(key_named("k"));
            if (report && refused >= 2) return report->started == 1 ? 0 : complain("a start is lost");
            if (report) return complain("enough descriptors after " + std::to_string(refused));
            ++refused;
            if (report.error().kind != ErrorKind::refused || !has(report.error().message, "ulimit -n"))
                return complain(report.error().message);
        }
        return complain("never enough");
    });
    CHECK(end == 0);
    CHECK(count_torn(folder.path()) == 0);
}

TEST_CASE("local: root makes no files in a folder for another user alone", "[contract]") {
    if (geteuid() != 0) {
        WARN("not root: nothing is checked here");
        return;
    }
    const TempDir parent;
    REQUIRE(chmod(parent.path().c_str(), 0755) == 0);
    const std::string folder = parent.file("theirs");
    std::filesystem::create_directory(folder);
    REQUIRE(chown(folder.c_str(), k_some_user, k_some_group) == 0);
    REQUIRE(chmod(folder.c_str(), 0755) == 0);

    const auto answer = open_store(options_in(folder))->registration(key_named("k"));
    REQUIRE_FALSE(answer);
    CHECK(answer.error().kind == ErrorKind::refused);
    CHECK_THAT(answer.error().message,
               Catch::Matchers::ContainsSubstring("root makes no files in " + folder));
    CHECK_FALSE(open_local_store(options_in(folder + "/below")));
    CHECK(files_in(folder).empty());

    // Files that are there may be used, and what replaces them is their owner's.
    CHECK(run_child([&] {
              become(k_some_user, k_some_group);
              start_once(options_in(folder));
              return 0;
          }) == 0);
    start_once(options_in(folder));
    write_file(folder + "/state.mdb", "torn");
    start_once(options_in(folder));
    struct stat file {};
    REQUIRE(stat((folder + "/state.mdb").c_str(), &file) == 0);
    CHECK(file.st_uid == k_some_user);
    CHECK(run_child([&] {
              become(k_some_user, k_some_group);
              start_once(options_in(folder));
              return 0;
          }) == 0);
}
