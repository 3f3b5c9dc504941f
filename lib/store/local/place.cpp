// SPDX-License-Identifier: MIT
#include "store/local/place.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>
#include <vector>

#include "store/local/bytes.hpp"
#include "store/local/local_store.hpp"
#include "store/local/lock_file.hpp"

namespace jobthrottle {

namespace local {

namespace {

constexpr std::size_t k_longest_stem = 200;

bool is_other_users(const struct stat& folder) {
    return geteuid() == 0 && folder.st_uid != 0 && (folder.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

Error others_folder(const std::string& folder, uid_t owner) {
    const passwd* entry = getpwuid(owner);
    const std::string name = entry != nullptr ? entry->pw_name : "uid " + std::to_string(owner);
    return refused_error("root makes no files in " + folder + ", which is for " + name +
                         " only: run this as " + name + ", or use a folder of root's or of a group");
}

std::string parent_of(const std::string& path) {
    const auto slash = path.find_last_of('/');
    return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

// The nearest folder on the way up that exists.
std::string existing_part(std::string path) {
    struct stat status {};
    while (path != "/" && stat(path.c_str(), &status) != 0)
        path = parent_of(path);
    return path;
}

bool is_other_users_place(const std::string& path) {
    struct stat status {};
    return stat(existing_part(path).c_str(), &status) == 0 && is_other_users(status);
}

std::int64_t type_of(const LocalOptions& options, const std::string& path) {
    const std::string there = existing_part(path);
    if (options.hooks.file_system_type) return options.hooks.file_system_type(there);
    struct statfs info {};
    return statfs(there.c_str(), &info) == 0 ? static_cast<std::int64_t>(info.f_type) : 0;
}

std::string place_that_works(const LocalOptions& options) {
    for (const std::string parent : {"/var/tmp", "/tmp", "/dev/shm"}) {
        if (access(parent.c_str(), W_OK | X_OK) == 0 && !shared_file_system(type_of(options, parent)))
            return "use --store local:" + parent + "/jobthrottle-" + std::to_string(getuid()) + " or a Redis";
    }
    return "use a Redis";
}

std::optional<std::string> variable(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value != '/') return std::nullopt;
    return std::string(value);
}

std::optional<std::string> user_folder() {
    std::vector<std::string> candidates;
    if (const auto state = variable("XDG_STATE_HOME")) candidates.push_back(*state + "/jobthrottle");
    if (const auto home = variable("HOME")) candidates.push_back(*home + "/.local/state/jobthrottle");
    for (auto& candidate : candidates) {
        if (!is_other_users_place(candidate)) return std::move(candidate);
    }
    const passwd* entry = getpwuid(geteuid());
    if (entry == nullptr || entry->pw_dir == nullptr || *entry->pw_dir != '/') return std::nullopt;
    return std::string(entry->pw_dir) + "/.local/state/jobthrottle";
}

Result<LocalPlace> default_place(const LocalOptions& options) {
    LocalPlace place;
    struct stat status {};
    if (stat(options.system_folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
        place.folder = options.system_folder;
        if (faccessat(AT_FDCWD, place.folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return place;
        place.fell_back = true;
    }
    const auto folder = user_folder();
    if (!folder) {
        return config_error(
            "no home folder is known for uid " + std::to_string(geteuid()) +
            ", so there is no default place for the local store: " + place_that_works(options));
    }
    place.folder = *folder;
    place.only_user = true;
    return place;
}

}  // namespace

Result<FilePlan> new_file_plan(const std::string& folder) {
    struct stat status {};
    if (stat(folder.c_str(), &status) != 0) return system_error("cannot look at " + folder, errno);
    if (is_other_users(status)) return others_folder(folder, status.st_uid);
    return FilePlan{static_cast<mode_t>((status.st_mode & 0666) | 0600), static_cast<uid_t>(-1),
                    status.st_gid};
}

void give_rights(int fd, const FilePlan& plan) {
    mode_t mode = plan.mode;
    struct stat status {};
    const bool has_group = fchown(fd, plan.owner, plan.group) == 0 ||
                           fchown(fd, static_cast<uid_t>(-1), plan.group) == 0 ||
                           (fstat(fd, &status) == 0 && status.st_gid == plan.group);
    if (!has_group) mode = static_cast<mode_t>((mode & 0606) | (mode & 06) << 3);
    if (fchmod(fd, mode) != 0) return;
}

Result<void> make_folder(const std::string& folder) {
    struct stat status {};
    if (stat(folder.c_str(), &status) == 0) {
        if (S_ISDIR(status.st_mode)) return {};
        return refused_error(folder + " is not a folder");
    }
    const std::string parent = parent_of(folder);
    if (parent != folder) {
        if (auto made = make_folder(parent); !made) return made;
    }
    if (const auto plan = new_file_plan(parent); !plan) return plan.error();
    if (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return {};
    return system_error("cannot make the folder " + folder, errno);
}

std::string file_stem(const std::string& prefix) {
    static constexpr char k_digits[] = "0123456789ABCDEF";
    if (prefix.empty()) return "state";
    std::string stem;
    for (const char c : prefix) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (letter || (c >= '0' && c <= '9') || c == '-' || c == '_') {
            stem += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        stem += '%';
        stem += k_digits[byte >> 4];
        stem += k_digits[byte & 15];
    }
    if (stem == "state") return "%73tate";
    if (stem.size() <= k_longest_stem) return stem;
    return stem.substr(0, k_longest_stem - 24) + "%%" + std::to_string(checksum("prefix", prefix));
}

std::optional<std::string> shared_file_system(std::int64_t type) {
    static constexpr std::array<std::pair<std::uint32_t, const char*>, 12> k_shared = {{
        {0x6969, "NFS"},
        {0x517B, "SMB"},
        {0xFF534D42, "CIFS"},
        {0xFE534D42, "SMB (CIFS)"},
        {0x01021997, "9p"},
        {0x65735546, "FUSE"},
        {0x5346414F, "AFS"},
        {0x00C36400, "Ceph"},
        {0x0BD00BD0, "Lustre"},
        {0x01161970, "GFS2"},
        {0x7461636F, "OCFS2"},
        {0x786F4256, "a folder shared by VirtualBox"},
    }};
    for (const auto& [magic, name] : k_shared) {
        if (magic == static_cast<std::uint32_t>(type)) return name;
    }
    return std::nullopt;
}

}  // namespace local

Result<LocalPlace> find_local_place(const LocalOptions& options) {
    LocalPlace place;
    if (options.path.empty()) {
        auto found = local::default_place(options);
        if (!found) return found;
        place = *found;
    } else if (options.path.front() != '/') {
        return config_error("local:" + options.path + ": want an absolute path, for example local:/var/tmp/" +
                            "jobthrottle-" + std::to_string(getuid()));
    } else {
        place.folder = options.path;
        while (place.folder.size() > 1 && place.folder.back() == '/')
            place.folder.pop_back();
    }
    if (const auto shared = local::shared_file_system(local::type_of(options, place.folder))) {
        return config_error("local:" + place.folder + " is on " + *shared + ", where this store can break; " +
                            local::place_that_works(options));
    }
    return place;
}

}  // namespace jobthrottle
