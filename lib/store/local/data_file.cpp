// SPDX-License-Identifier: MIT
#include "store/local/data_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>

#include "base/fd.hpp"
#include "store/local/lock_file.hpp"

namespace jobthrottle::local {

namespace {

Failure fill_file(const std::string& path, const StoreRecord& record, std::size_t map_bytes,
                  const std::function<void(Transaction&)>& fill) {
    Environment environment;
    if (const auto failure = environment.open(path, map_bytes)) return failure;
    Transaction txn(environment);
    put_store_record(txn, record);
    if (fill) fill(txn);
    txn.commit();
    return txn.failure();
}

}  // namespace

Failure make_data_file(const std::string& path, const FilePlan& plan, const StoreRecord& record,
                       std::size_t map_bytes, const std::function<void(Transaction&)>& fill) {
    unlink(path.c_str());
    const Fd fd(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd) return {Fault::system, errno};
    give_rights(fd.get(), plan);
    const auto failure = fill_file(path, record, map_bytes, fill);
    if (failure) unlink(path.c_str());
    return failure;
}

Result<std::string> set_aside(const std::string& path, std::int64_t wall_us) {
    const auto seconds = static_cast<std::time_t>(wall_us / 1'000'000);
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    std::array<char, 32> stamp{};
    strftime(stamp.data(), stamp.size(), "%Y%m%dT%H%M%SZ", &utc);
    const std::string base = path + ".torn-" + stamp.data();
    std::string name = base;
    struct stat status {};
    for (int i = 2; lstat(name.c_str(), &status) == 0; ++i)
        name = base + "-" + std::to_string(i);
    if (rename(path.c_str(), name.c_str()) != 0) return system_error("cannot set aside " + path, errno);
    return name;
}

}  // namespace jobthrottle::local
