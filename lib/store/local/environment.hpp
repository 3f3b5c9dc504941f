// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

struct MDB_env;

namespace jobthrottle::local {

// What went wrong below, by what is to be done about it.
enum class Fault : std::uint8_t {
    none,
    map_full,  // grow the map and do it again
    damaged,   // the file is torn or not ours: set it aside
    newer,     // a newer version wrote it: leave it alone
    system,    // the system says no: `code` is errno
};
struct Failure {
    Fault fault = Fault::none;
    int code = 0;
    explicit operator bool() const { return fault != Fault::none; }
};
Failure failure_of(int lmdb_code);  // LMDB's or errno; 0 is none

// One LMDB file, open without LMDB's own lock: whoever uses it holds the store's. Its descriptors are closed
// on exec.
class Environment {
public:
    static constexpr std::size_t k_first_map_bytes = std::size_t{4} << 20;

    Environment() = default;
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;
    ~Environment() { close(); }

    // `map_bytes` zero: as the file says. REQUIRES: not open.
    Failure open(const std::string& path, std::size_t map_bytes = 0);
    void close();
    bool is_open() const { return m_env != nullptr; }

    int fd() const;       // of the data file. REQUIRES: open
    Failure grow();       // twice the map; REQUIRES: open, no transaction under way
    Failure adopt_map();  // another process has grown it. REQUIRES: likewise
    MDB_env* handle() const { return m_env; }

    std::size_t records() const;  // how many it says it holds

private:
    MDB_env* m_env = nullptr;
};

}  // namespace jobthrottle::local
