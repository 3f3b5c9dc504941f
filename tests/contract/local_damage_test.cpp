// SPDX-License-Identifier: MIT
// Torn, truncated and foreign files: said once, set aside, replaced, and never a crash.
#include <fcntl.h>
#include <lmdb.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "base/fd.hpp"
#include "contract/local_support.hpp"
#include "store/local/environment.hpp"
#include "store/local/key_table.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;

namespace {

std::string noise(std::size_t size) {
    static std::mt19937 random(11);
    std::string bytes(size, '\0');
    for (char& byte : bytes)
        byte = static_cast<char>(random() & 0xFF);
    return bytes;
}

// As another program would write it, some time later.
void overwrite(const std::string& path, std::size_t offset, const std::string& bytes) {
    const Fd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    REQUIRE(pwrite(fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)) ==
            static_cast<ssize_t>(bytes.size()));
    const timespec later[2] = {{0, UTIME_OMIT}, {2'000'000'000, 0}};
    REQUIRE(futimens(fd.get(), later) == 0);
}

struct Damaged {
    TempDir folder;
    std::string path = folder.file("state.mdb");
    int notices = 0;
    std::string said;
    LocalOptions options = options_in(folder.path());

    Damaged() {
        options.notice = [this](const std::string& text) {
            ++notices;
            said = text;
        };
        const auto store = open_store(options);
        for (int i = 0; i < 40; ++i) {
            const auto key = key_named("key " + std::to_string(i));
            REQUIRE(store->set_registration(
                key, Registration{terms_of(rate_of(5, 60s)), 1, std::string(300, 'w')}));
            REQUIRE(store->ask(key, question_at(rate_of(5, 60s))));
        }
        REQUIRE(notices == 0);
    }

    void is_replaced() {
        start_once(options);
        start_once(options);
        CHECK(notices == 1);
        CHECK_THAT(said, Catch::Matchers::ContainsSubstring(path + " was torn or is no store of ours"));
        CHECK(count_torn(folder.path()) == 1);
        const auto store = open_store(options);
        CHECK(store->inspect(key_named("k"))->started == 2);
        CHECK(store->keys("*")->size() == 1);
    }
};

}  // namespace

TEST_CASE("local: torn meta pages", "[contract]") {
    Damaged store;
    SECTION("both") {
        overwrite(store.path, 0, noise(8192));
    }
    SECTION("both, with zeros") {
        overwrite(store.path, 0, std::string(8192, '\0'));
    }
    SECTION("the first") {
        overwrite(store.path, 0, noise(4096));
    }
    SECTION("the second") {
        overwrite(store.path, 4096, noise(4096));
    }
    store.is_replaced();
}

TEST_CASE("local: torn pages", "[contract]") {
    Damaged store;
    const auto size = static_cast<std::size_t>(std::filesystem::file_size(store.path));
    SECTION("noise") {
        overwrite(store.path, 8192, noise(size - 8192));
    }
    SECTION("zeros") {
        overwrite(store.path, 8192, std::string(size - 8192, '\0'));
    }
    store.is_replaced();
}

TEST_CASE("local: truncated files", "[contract]") {
    Damaged store;
    const auto size = static_cast<std::size_t>(std::filesystem::file_size(store.path));
    const std::size_t left =
        GENERATE_COPY(std::size_t{0}, std::size_t{100}, std::size_t{4096}, std::size_t{8192}, size / 2);
    INFO(left << " bytes left");
    std::filesystem::resize_file(store.path, left);
    store.is_replaced();
}

TEST_CASE("local: what stands in the place of the file", "[contract]") {
    Damaged store;
    std::filesystem::remove(store.path);
    SECTION("a text") {
        write_file(store.path, "dear diary\n" + std::string(20'000, '.'));
    }
    SECTION("an empty file") {
        write_file(store.path, "");
    }
    SECTION("a folder") {
        std::filesystem::create_directory(store.path);
    }
    SECTION("a pipe") {
        REQUIRE(mkfifo(store.path.c_str(), 0600) == 0);
    }
    SECTION("a symbolic link") {
        write_file(store.folder.file("precious"), "precious");
        std::filesystem::create_symlink(store.folder.file("precious"), store.path);
    }
    SECTION("another application's LMDB file") {
        MDB_env* env = nullptr;
        MDB_txn* txn = nullptr;
        MDB_dbi dbi = 0;
        REQUIRE(mdb_env_create(&env) == 0);
        REQUIRE(mdb_env_open(env, store.path.c_str(), MDB_NOSUBDIR | MDB_NOLOCK, 0600) == 0);
        REQUIRE(mdb_txn_begin(env, nullptr, 0, &txn) == 0);
        REQUIRE(mdb_dbi_open(txn, nullptr, 0, &dbi) == 0);
        std::string text = "Something else";
        MDB_val key{1, text.data()}, value{text.size(), text.data()};
        REQUIRE(mdb_put(txn, dbi, &key, &value, 0) == 0);
        REQUIRE(mdb_txn_commit(txn) == 0);
        mdb_env_close(env);
    }
    store.is_replaced();
    if (std::filesystem::exists(store.folder.file("precious")))
        CHECK(read_file(store.folder.file("precious")) == "precious");
}

TEST_CASE("local: a file that goes bad, or goes away, under a store that has it open", "[contract]") {
    Damaged damaged;
    const auto store = open_store(damaged.options);
    const Key key = key_named("k");
    REQUIRE(store->registration(key));
    SECTION("overwritten") {
        const auto size = static_cast<std::size_t>(std::filesystem::file_size(damaged.path));
        overwrite(damaged.path, 0, noise(size));
    }
    SECTION("truncated") {
        std::filesystem::resize_file(damaged.path, 4096);
    }
    SECTION("replaced by nothing") {
        std::filesystem::remove(damaged.path);
        REQUIRE(store->registration(key));
        CHECK(damaged.notices == 0);
        CHECK(open_store(damaged.options)->keys("*")->empty());
        return;
    }
    SECTION("removed with its folder") {
        std::filesystem::remove_all(damaged.folder.path());
        std::filesystem::create_directory(damaged.folder.path());
        start_once(damaged.options);
        CHECK(store->inspect(key)->started == 1);  // the same file as the other store has made
        return;
    }
    REQUIRE(store->registration(key));
    damaged.is_replaced();
}

TEST_CASE("local: a flipped byte anywhere is never a crash", "[contract]") {
    const TempDir spare;
    const std::string copy = spare.file("copy");
    Damaged damaged;
    std::filesystem::copy_file(damaged.path, copy);
    const std::string whole = read_file(copy);
    for (std::size_t offset = 3; offset < whole.size(); offset += whole.size() / 53) {
        INFO("offset " << offset);
        damaged.notices = 0;
        std::filesystem::remove(damaged.path);
        std::filesystem::copy_file(copy, damaged.path);
        overwrite(damaged.path, offset, std::string(1, static_cast<char>(whole[offset] ^ 0x55)));
        const auto store = open_store(damaged.options);
        CHECK(store->ask(key_named("key 7"), question_at(rate_of(5, 60s))).ok());
        const auto keys = store->keys("*");
        REQUIRE(keys);
        CHECK(keys->size() == (damaged.notices > 0 ? 1U : 40U));
    }
}

TEST_CASE("local: the file of a newer version is left alone", "[contract]") {
    const TempDir folder;
    start_once(options_in(folder.path()));
    {
        local::Environment environment;
        REQUIRE_FALSE(environment.open(folder.file("state.mdb")));
        local::Transaction txn(environment);
        std::string record(*txn.get("S"));
        record[12] = 3;  // behind the tag
        txn.put("S", record);
        REQUIRE(txn.commit());
    }
    const auto answer = open_store(options_in(folder.path()))->registration(key_named("k"));
    REQUIRE_FALSE(answer);
    CHECK(answer.error().kind == ErrorKind::refused);
    CHECK_THAT(answer.error().message, Catch::Matchers::ContainsSubstring("a newer jobthrottle"));
    CHECK(files_in(folder.path()) == std::vector<std::string>{"state.lock", "state.mdb"});
}

TEST_CASE("local: a folder that goes away while a job waits is made again", "[contract]") {
    const TempDir parent;
    const std::string path = parent.file("a/store");
    LocalOptions options = options_in(path);
    options.command_timeout = 30s;
    const auto store = open_store(options);
    const Key key = key_named("k");
    auto waiter = question_at(rate_of(1, 60s));
    REQUIRE(store->ask(key, question_at(rate_of(1, 60s)))->kind == AnswerKind::start);
    REQUIRE(store->ask(key, waiter)->kind == AnswerKind::wait);
    SECTION("in a sleep") {
        store->rest();
    }
    SECTION("between two calls") {}
    std::filesystem::remove_all(parent.file("a"));
    waiter.fresh = false;
    const auto answer = store->ask(key, waiter);
    REQUIRE(answer.ok());
    CHECK(answer->kind == AnswerKind::start);  // what held it back is gone with the folder
    struct stat made {};
    REQUIRE(stat(path.c_str(), &made) == 0);
    CHECK((made.st_mode & 07777) == 0700);
    CHECK(open_store(options)->inspect(key)->started == 1);
}

TEST_CASE("local: the folder of the whole system is nobody's to make again", "[contract]") {
    const TempDir parent;
    LocalOptions options;
    options.system_folder = parent.file("system");
    options.command_timeout = 30s;
    std::filesystem::create_directory(options.system_folder);
    const auto store = open_store(options);
    REQUIRE(store->registration(key_named("k")).ok());
    store->rest();
    std::filesystem::remove_all(options.system_folder);
    const auto answer = store->registration(key_named("k"));
    REQUIRE_FALSE(answer);
    CHECK(answer.error().kind == ErrorKind::refused);
    CHECK_THAT(answer.error().message, Catch::Matchers::ContainsSubstring(options.system_folder));
    CHECK_FALSE(std::filesystem::exists(options.system_folder));
}
