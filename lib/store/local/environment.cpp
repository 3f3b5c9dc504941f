// SPDX-License-Identifier: MIT
#include "store/local/environment.hpp"

#include <fcntl.h>
#include <lmdb.h>

#include <cerrno>

namespace jobthrottle::local {

namespace {

constexpr std::size_t k_most_map_bytes =
    sizeof(std::size_t) > 4 ? std::size_t{1} << 40 : std::size_t{1} << 30;

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

}  // namespace jobthrottle::local
