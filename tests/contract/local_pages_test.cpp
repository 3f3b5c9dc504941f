// SPDX-License-Identifier: MIT
// What LMDB does not check: a file whose pages are damaged in any place where a writer relies on them, and a
// writer that died of it.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <random>

#include "base/fd.hpp"
#include "contract/local_support.hpp"
#include "store/local/environment.hpp"
#include "store/local/page_check.hpp"
#include "store/local/transaction.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;

namespace {

constexpr int k_keys = 60;
constexpr std::size_t k_page = 4096, k_pointers = 16;

std::string key_text(int i) {
    return "key " + std::to_string(i);
}

// A store with pages of every kind: branches, leaves, a long value, free ones.
void fill(const LocalOptions& options) {
    const auto store = open_store(options);
    for (int i = 0; i < k_keys; ++i) {
        const std::string who(i == 7 ? 9000 : 300, 'w');
        REQUIRE(
            store->set_registration(key_named(key_text(i)), Registration{terms_of(rate_of(5, 60s)), 1, who}));
        REQUIRE(store->ask(key_named(key_text(i)), question_at(rate_of(5, 60s))));
    }
}

bool is_sound(const std::string& path) {
    const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    return local::check_pages(fd.get()) == local::Pages::sound;
}

void put_bytes(const std::string& path, std::size_t offset, const std::string& bytes) {
    const Fd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    REQUIRE(pwrite(fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)) ==
            static_cast<ssize_t>(bytes.size()));
}

// Uses the store in every way and at every page. What it returns says whether all is well.
int use(const LocalOptions& plain) {
    LocalOptions options = plain;
    int notices = 0;
    options.notice = [&](const std::string&) { ++notices; };
    const auto store = open_store(options);
    const auto rate = rate_of(5, 60s);
    if (!store->pause(key_named("new"), {2h, false, true, "why"})) return 1;
    if (!store->ask(key_named("newer"), question_at(rate))) return 2;
    for (int i = 0; i < k_keys; ++i) {
        const Key key = key_named(key_text(i));
        if (!store->set_registration(key, Registration{terms_of(rate), 1, std::string(200, 'v')})) return 3;
        if (i % 3 == 0 && !store->set_registration(key, std::nullopt)) return 4;
    }
    for (int i = 0; i < k_keys; i += 2) {
        if (!store->ask(key_named(key_text(i)), question_at(rate))) return 5;
        if (i % 4 == 0 && !store->forget(key_named(key_text(i)), true)) return 6;
    }
    const auto keys = store->keys("*");
    if (!keys || keys->empty()) return 7;
    return notices > 1 ? 8 : 0;
}

}  // namespace

TEST_CASE("local: a file is sound after every change", "[contract]") {
    const TempDir folder;
    const std::string path = folder.file("file");
    std::mt19937 random(5);
    const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
    const auto name_of = [&](int i) {
        return std::to_string(i) + std::string(static_cast<std::size_t>(i) % 200, 'k');
    };
    local::Environment environment;
    REQUIRE_FALSE(environment.open(path, local::Environment::k_first_map_bytes));
    for (int round = 0; round < 600; ++round) {
        INFO("round " << round);
        // Fills up, then runs empty, and again.
        const int puts = round / 150 % 2 == 0 ? 8 : 2;
        {
            local::Transaction txn(environment);
            for (int i = 0; i < 12; ++i) {
                const auto size = static_cast<std::size_t>(below(20) == 0 ? below(20'000) : below(400));
                if (below(10) < puts) {
                    txn.put(name_of(below(900)), std::string(size, 'v'));
                } else {
                    for (int n = 0; n < 4; ++n)
                        txn.remove(name_of(below(900)));
                }
            }
            if (!txn.commit()) {
                REQUIRE(txn.failure().fault == local::Fault::map_full);
            }
        }
        if (round == 300) REQUIRE_FALSE(environment.grow());
        REQUIRE(is_sound(path));
    }
    CHECK(environment.records() > 0);
}

TEST_CASE("local: a flipped bit where a page says what it holds is never a crash", "[contract]") {
    const TempDir folder, spare;
    const std::string path = folder.file("state.mdb"), copy = spare.file("copy");
    const LocalOptions options = options_in(folder.path());
    fill(options);
    REQUIRE(is_sound(path));
    const std::string whole = read_file(path);
    std::filesystem::copy_file(path, copy);

    std::mt19937 random(17);
    std::vector<std::size_t> offsets;
    for (std::size_t page = 0; page * k_page < whole.size(); ++page) {
        const std::size_t start = page * k_page;
        for (std::size_t i = 8; i < k_pointers + 6; ++i)
            offsets.push_back(start + i);
        // The head of the first node, where there is one.
        std::uint16_t node = 0;
        std::memcpy(&node, whole.data() + start + k_pointers, sizeof node);
        for (std::size_t i = 0; page >= 2 && node <= k_page - 8 && i < 8; ++i)
            offsets.push_back(start + node + i);
    }
    for (std::size_t i = 0; i < 152; i += 2)  // the trees' roots, the sizes
        offsets.push_back(i % 4 * k_page / 2 + k_pointers + i);
    REQUIRE(offsets.size() > 300);

    const std::size_t step = offsets.size() / 400 + 1;
    for (std::size_t i = random() % step; i < offsets.size(); i += step) {
        const std::size_t offset = offsets[i];
        const auto bit = static_cast<char>(1 << random() % 8);
        INFO("offset " << offset << ", bit " << int{bit});
        for (const auto& name : files_in(folder.path()))
            std::filesystem::remove_all(folder.file(name));
        std::filesystem::copy_file(copy, path);
        put_bytes(path, offset, std::string(1, static_cast<char>(whole[offset] ^ bit)));
        REQUIRE(run_child([&] { return use(options); }) == 0);
        CHECK(is_sound(path));
    }
}

TEST_CASE("local: damaged bounds of a page are found by looking", "[contract]") {
    const TempDir folder;
    const std::string path = folder.file("state.mdb");
    fill(options_in(folder.path()));
    const std::string whole = read_file(path);
    int damaged = 0;
    for (std::size_t start = 2 * k_page; start < whole.size(); start += k_page) {
        const char kind = whole[start + 10];
        // Pages that are free are nobody's, so one damage at a time may be none.
        for (const std::size_t at : {11U, 12U, 13U, 15U}) {
            if (kind != 1 && kind != 2) continue;
            put_bytes(path, start + at, std::string(1, static_cast<char>(whole[start + at] ^ 0x41)));
            if (!is_sound(path)) ++damaged;
            put_bytes(path, start + at, whole.substr(start + at, 1));
        }
    }
    CHECK(damaged >= 4 * k_keys / 10);
    CHECK(is_sound(path));
}

TEST_CASE("local: a file that a writer died over is looked at by the next one", "[contract]") {
    const TempDir folder;
    const std::string path = folder.file("state.mdb");
    LocalOptions options = options_in(folder.path());
    options.command_timeout = 30s;
    fill(options);
    // Behind the token's back: a damage that no look at the file's size and time shows.
    struct stat before {};
    REQUIRE(stat(path.c_str(), &before) == 0);
    std::string bytes = read_file(path);
    const auto at = bytes.rfind(std::string(100, 'w'));
    REQUIRE(at != std::string::npos);
    for (std::size_t i = 0; i + 300 < bytes.size(); ++i) {
        if (bytes.compare(i, 50, std::string(50, 'w')) == 0) bytes[i] = 'x';
    }
    put_bytes(path, 0, bytes);
    const timespec times[2] = {before.st_atim, before.st_mtim};
    REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);

    REQUIRE(open_store(options)->registration(key_named("unknown")));
    REQUIRE(count_torn(folder.path()) == 0);  // it is not looked at without a reason

    for (const int fatal : {SIGBUS, SIGSEGV, SIGKILL}) {
        INFO("signal " << fatal);
        const int end = run_child([&] {
            LocalOptions dying = options;
            dying.hooks.clock_us = [&]() -> std::int64_t {
                signal(fatal, SIG_DFL);
                raise(fatal);
                return 0;
            };
            return open_store(dying)->registration(key_named("unknown")) ? 1 : 2;
        });
        REQUIRE(end == 128 + fatal);
        if (fatal == SIGBUS) {
            REQUIRE(open_store(options)->registration(key_named("unknown")));
            CHECK(count_torn(folder.path()) == 1);
        }
        start_once(options, "after " + std::to_string(fatal));
    }
    CHECK(count_torn(folder.path()) == 1);
    CHECK(open_store(options)->keys("*")->size() == 3);  // what is whole survives such a death
}
