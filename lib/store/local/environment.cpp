// SPDX-License-Identifier: MIT
#include "store/local/environment.hpp"

#include <fcntl.h>
#include <lmdb.h>

#include <cerrno>
#include <cstring>

namespace jobthrottle::local {

namespace {

constexpr std::size_t k_most_map_bytes =
    sizeof(std::size_t) > 4 ? std::size_t{1} << 40 : std::size_t{1} << 30;
constexpr MDB_dbi k_free_pages = 0;

// A list as LMDB writes it: how many, then the pages from the highest down.
bool is_page_list(const MDB_val& value, std::size_t last_page) {
    constexpr std::size_t k_word = sizeof(std::size_t);
    const auto word = [&](std::size_t i) {
        std::size_t out = 0;
        std::memcpy(&out, static_cast<const char*>(value.mv_data) + i * k_word, k_word);
        return out;
    };
    if (value.mv_size < k_word) return false;
    const std::size_t count = word(0);
    if (count > value.mv_size / k_word - 1) return false;
    std::size_t above = last_page + 1;
    for (std::size_t i = 1; i <= count; ++i) {
        if (word(i) >= above || word(i) < 2) return false;
        above = word(i);
    }
    return true;
}

}  // namespace

Failure failure_of(int lmdb_code) {
    switch (lmdb_code) {
        case MDB_SUCCESS:
            return {};
        case MDB_MAP_FULL:
            return {Fault::map_full, 0};
        case MDB_VERSION_MISMATCH:
            return {Fault::newer, 0};
        default:
            break;
    }
    if (lmdb_code > 0 && lmdb_code != EINVAL) return {Fault::system, lmdb_code};
    return {Fault::damaged, 0};
}

Failure Environment::open(const std::string& path, std::size_t map_bytes) {
    if (const int code = mdb_env_create(&m_env)) return failure_of(code);
    int code = map_bytes > 0 ? mdb_env_set_mapsize(m_env, map_bytes) : 0;
    constexpr unsigned k_flags =
        MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC | MDB_NOMETASYNC | MDB_NOTLS | MDB_NOMEMINIT;
    if (code == 0) code = mdb_env_open(m_env, path.c_str(), k_flags, 0600);
    // LMDB 0.9.24 opens its data file, and only that, without the flag.
    if (code == 0 && fcntl(fd(), F_SETFD, FD_CLOEXEC) != 0) code = errno;
    if (code != 0) close();
    return failure_of(code);
}

void Environment::close() {
    if (m_env != nullptr) mdb_env_close(m_env);
    m_env = nullptr;
}

int Environment::fd() const {
    int fd = -1;
    mdb_env_get_fd(m_env, &fd);
    return fd;
}

Failure Environment::grow() {
    MDB_envinfo info{};
    mdb_env_info(m_env, &info);
    if (info.me_mapsize >= k_most_map_bytes) return {Fault::system, ENOSPC};
    return failure_of(mdb_env_set_mapsize(m_env, info.me_mapsize * 2));
}

Failure Environment::adopt_map() {
    return failure_of(mdb_env_set_mapsize(m_env, 0));
}

std::size_t Environment::records() const {
    MDB_stat stat{};
    mdb_env_stat(m_env, &stat);
    return stat.ms_entries;
}

bool Environment::free_pages_are_sound() const {
    MDB_envinfo info{};
    mdb_env_info(m_env, &info);
    MDB_txn* txn = nullptr;
    if (mdb_txn_begin(m_env, nullptr, MDB_RDONLY, &txn) != 0) return false;
    MDB_cursor* cursor = nullptr;
    int code = mdb_cursor_open(txn, k_free_pages, &cursor);
    bool sound = code == 0;
    MDB_val key{}, value{};
    while (sound && (code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0)
        sound = is_page_list(value, info.me_last_pgno);
    if (cursor != nullptr) mdb_cursor_close(cursor);
    mdb_txn_abort(txn);
    return sound && code == MDB_NOTFOUND;
}

}  // namespace jobthrottle::local
