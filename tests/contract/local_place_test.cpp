// SPDX-License-Identifier: MIT
// Where the local store is, which file systems it refuses, and what outlives a reboot.
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <vector>

#include "contract/local_support.hpp"
#include "store/local/place.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

namespace {

// Sets variables of the environment, "" unsets, and puts back what was.
class Variables {
public:
    explicit Variables(const std::map<std::string, std::string>& wanted) {
        for (const auto& [name, value] : wanted) {
            const char* before = getenv(name.c_str());
            m_before[name] = before != nullptr ? before : "";
            put(name, value);
        }
    }
    Variables(const Variables&) = delete;
    Variables& operator=(const Variables&) = delete;
    ~Variables() {
        for (const auto& [name, value] : m_before)
            put(name, value);
    }

private:
    static void put(const std::string& name, const std::string& value) {
        if (value.empty()) {
            unsetenv(name.c_str());
        } else {
            setenv(name.c_str(), value.c_str(), 1);
        }
    }
    std::map<std::string, std::string> m_before;
};

}  // namespace

TEST_CASE("local: the default place", "[contract]") {
    const TempDir home;
    LocalOptions options;
    options.system_folder = home.file("system");

    SECTION("the system's folder where it is there") {
        std::filesystem::create_directory(options.system_folder);
        const auto place = find_local_place(options);
        REQUIRE(place);
        CHECK(place->folder == options.system_folder);
        CHECK_FALSE(place->only_user);
        CHECK_FALSE(place->fell_back);
    }
    SECTION("XDG_STATE_HOME") {
        const Variables variables({{"XDG_STATE_HOME", home.file("state")}, {"HOME", home.path()}});
        const auto place = find_local_place(options);
        REQUIRE(place);
        CHECK(place->folder == home.file("state/jobthrottle"));
        CHECK(place->only_user);
        CHECK_FALSE(place->fell_back);
        options.command_timeout = 30s;
        start_once(options);
        struct stat folder {};
        REQUIRE(stat(place->folder.c_str(), &folder) == 0);
        CHECK((folder.st_mode & 07777) == 0700);
        REQUIRE(stat((place->folder + "/state.mdb").c_str(), &folder) == 0);
        CHECK((folder.st_mode & 07777) == 0600);
    }
    SECTION("HOME where XDG_STATE_HOME is not absolute") {
        const Variables variables({{"XDG_STATE_HOME", "state"}, {"HOME", home.path()}});
        CHECK(find_local_place(options)->folder == home.file(".local/state/jobthrottle"));
    }
    SECTION("the passwd entry where HOME is unset") {
        const Variables variables({{"XDG_STATE_HOME", ""}, {"HOME", ""}});
        const passwd* entry = getpwuid(geteuid());
        REQUIRE(entry != nullptr);
        CHECK(find_local_place(options)->folder == std::string(entry->pw_dir) + "/.local/state/jobthrottle");
    }
    SECTION("the user's where the system's folder may not be written") {
        std::filesystem::create_directory(options.system_folder);
        REQUIRE(chmod(home.path().c_str(), 0755) == 0);
        REQUIRE(chmod(options.system_folder.c_str(), 0555) == 0);
        const int end = run_child([&] {
            const Variables variables({{"XDG_STATE_HOME", ""}, {"HOME", "/somewhere"}});
            if (geteuid() == 0) become(k_some_user, k_some_group);
            const auto place = find_local_place(options);
            return place && place->folder == "/somewhere/.local/state/jobthrottle" && place->fell_back &&
                           place->only_user
                       ? 0
                       : 1;
        });
        CHECK(end == 0);
    }
}

TEST_CASE("local: a default place that cannot be made names the ways out", "[contract]") {
    const TempDir home;
    write_file(home.file("home"), "no folder");
    const Variables variables({{"XDG_STATE_HOME", ""}, {"HOME", home.file("home")}});
    LocalOptions options;
    options.system_folder = home.file("system");
    const auto store = open_local_store(options);
    REQUIRE_FALSE(store.ok());
    CHECK(store.error().kind == ErrorKind::refused);
    CHECK_THAT(store.error().message,
               ContainsSubstring("use --store local:/PATH, or make " + home.file("system")));
    options.path = home.file("home/x");
    CHECK_THAT(open_local_store(options).error().message, !ContainsSubstring("--store"));
}

TEST_CASE("local: who only looks makes nothing", "[contract]") {
    const TempDir home;
    LocalOptions options;
    options.path = home.file("not/there");
    options.look_only = true;
    const auto store = open_local_store(options);
    REQUIRE(store);
    CHECK_FALSE((*store)->inspect(key_named("k"))->known);
    CHECK((*store)->keys("*")->empty());
    CHECK((*store)->name() == "local:" + options.path);
    CHECK_FALSE((*store)->pause(key_named("k"), {1min, false, false, ""}).ok());
    CHECK_FALSE(std::filesystem::exists(home.file("not")));
    options.look_only = false;
    start_once(options);
    options.look_only = true;
    CHECK((*open_local_store(options))->inspect(key_named("k"))->known);
}

TEST_CASE("local: root passes a HOME by that is another user's", "[contract]") {
    if (geteuid() != 0) {
        WARN("not root: nothing is checked here");
        return;
    }
    const TempDir home;
    REQUIRE(chown(home.path().c_str(), k_some_user, k_some_group) == 0);
    const Variables variables({{"XDG_STATE_HOME", ""}, {"HOME", home.path()}});
    LocalOptions options;
    options.system_folder = home.file("none");
    const auto place = find_local_place(options);
    REQUIRE(place);
    CHECK(place->folder == std::string(getpwuid(0)->pw_dir) + "/.local/state/jobthrottle");
}

TEST_CASE("local: a path that is not absolute", "[contract]") {
    for (const char* path : {"state", "./state", "~/state"}) {
        const auto place = find_local_place(options_in(path));
        REQUIRE_FALSE(place);
        CHECK(place.error().kind == ErrorKind::config);
        CHECK_THAT(place.error().message, ContainsSubstring("local:" + std::string(path) +
                                                            ": want an absolute path, for example local:/"));
    }
    CHECK(find_local_place(options_in("/a/b//"))->folder == "/a/b");
}

TEST_CASE("local: file systems that machines share", "[contract]") {
    const TempDir folder;
    LocalOptions options = options_in(folder.file("not/there/yet"));
    options.hooks.file_system_type = [&](const std::string& path) {
        return path == folder.path() ? std::int64_t{0x6969} : std::int64_t{0xEF53};
    };
    const auto place = find_local_place(options);
    REQUIRE_FALSE(place);
    CHECK(place.error().kind == ErrorKind::config);
    CHECK(place.error().message == "local:" + options.path +
                                       " is on NFS, where this store can break; use --store "
                                       "local:/var/tmp/jobthrottle-" +
                                       std::to_string(getuid()) + " or a Redis");
    CHECK_FALSE(std::filesystem::exists(folder.file("not")));

    const auto named = [](std::int64_t type) { return local::shared_file_system(type).value_or("local"); };
    CHECK_THAT(named(0xFE534D42), ContainsSubstring("SMB"));
    CHECK(named(std::int32_t(0xFF534D42U)) == "CIFS");  // as a 32-bit statfs gives it
    CHECK(named(0x01021997) == "9p");
    CHECK(named(0x65735546) == "FUSE");
    for (const std::int64_t local :
         std::vector<std::int64_t>{0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0x794C7630})
        CHECK(named(local) == "local");  // ext4, xfs, btrfs, tmpfs, overlay
}

TEST_CASE("local: names of files", "[contract]") {
    CHECK(local::file_stem("") == "state");
    CHECK(local::file_stem("app-1_x") == "app-1_x");
    CHECK(local::file_stem("../a b") == "%2E%2E%2Fa%20b");
    CHECK(local::file_stem("state") != "state");
    CHECK(local::file_stem(std::string(300, 'a')) != local::file_stem(std::string(301, 'a')));
    CHECK(local::file_stem(std::string(300, 'a')).size() <= 210);
}

TEST_CASE("local: a reboot ends everything but pauses, notes and registrations", "[contract]") {
    const TempDir folder;
    Machine machine;
    LocalOptions options = options_in(folder.path());
    options.hooks = machine.hooks();
    int notices = 0;
    options.notice = [&](const std::string&) { ++notices; };
    const auto pause_for = [&](Store& store, const char* key, Duration length, bool forever = false) {
        PauseRequest request;
        request.length = length;
        request.forever = forever;
        request.by_hand = true;
        request.note = encode(PauseNote{"", "", "", "", "me", std::string("why ") + key, 1'800'000'000});
        REQUIRE(store.pause(key_named(key), request)->changed);
    };
    {
        const auto store = open_store(options);
        pause_for(*store, "an hour", 1h);
        pause_for(*store, "a minute", 60s);
        pause_for(*store, "for ever", 1s, true);
        REQUIRE(store->set_registration(key_named("known"), Registration{terms_of(rate_of(1, 1h)), 7, "me"}));
        for (TicketId place = 1; place <= 3; ++place) {
            Question question = question_at(rate_of(1, 1h));
            question.place = place;
            question.taking = Taking::place;
            REQUIRE(store->ask(key_named("known"), question));
        }
        CHECK(store->inspect(key_named("known"))->waiting.size() == 2);
    }
    machine.boot = "second";
    machine.clock_us = 10'000'000;

    SECTION("with a wall clock that went on") {
        machine.wall_us += 600'000'000;
        const auto store = open_store(options);
        CHECK(store->inspect(key_named("an hour"))->paused_for == 50min);
        CHECK(store->inspect(key_named("an hour"))->paused_by_hand);
        CHECK(store->inspect(key_named("an hour"))->note->reason == "why an hour");
        CHECK(store->inspect(key_named("for ever"))->paused_for_ever);
        CHECK(store->inspect(key_named("a minute"))->paused_for == 0s);
        CHECK(store->inspect(key_named("a minute"))->note->reason == "why a minute");
        const auto known = store->inspect(key_named("known"));
        CHECK(known->registration->who == "me");
        CHECK(known->waiting.empty());
        CHECK(known->limits.at(0).starts == 0);
        CHECK(known->holding.empty());
        CHECK(store->ask(key_named("known"), question_at(rate_of(1, 1h)))->kind == AnswerKind::start);
        machine.advance(50min);
        CHECK(store->inspect(key_named("an hour"))->paused_for == 0s);
    }
    SECTION("with a wall clock that fell back to 1970") {
        machine.wall_us = 5'000'000;
        const auto store = open_store(options);
        CHECK(store->inspect(key_named("an hour"))->paused_for == 1h);
        CHECK(store->inspect(key_named("for ever"))->paused_for_ever);
    }
    CHECK(notices == 0);
    CHECK(files_in(folder.path()) == std::vector<std::string>{"state.lock", "state.mdb"});
}

TEST_CASE("local: a store that was open before a new file came in its place follows it", "[contract]") {
    const TempDir folder;
    Machine machine;
    LocalOptions options = options_in(folder.path());
    options.hooks = machine.hooks();
    const auto before = open_store(options);
    REQUIRE(before->ask(key_named("k"), question_at(rate_of(1, 1h)))->kind == AnswerKind::start);
    REQUIRE(before->set_registration(key_named("k"), Registration{terms_of(rate_of(1, 1h)), 7, "me"}));
    // As though it was set aside and begun anew.
    std::filesystem::rename(folder.file("state.mdb"), folder.file("away"));
    start_once(options);
    CHECK(before->inspect(key_named("k"))->started == 1);
    CHECK_FALSE(before->registration(key_named("k"))->has_value());
}
