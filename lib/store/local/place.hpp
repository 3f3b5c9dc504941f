// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace jobthrottle::local {

// Owner, group and rights of a file that is to be made.
struct FilePlan {
    mode_t mode = 0600;
    uid_t owner = static_cast<uid_t>(-1);  // -1: whoever makes it
    gid_t group = static_cast<gid_t>(-1);
};

// As the folder has them: its rights without execution, and its group. Error (refused): we are root and the
// folder is another user's alone; files of ours there would lock that user out.
Result<FilePlan> new_file_plan(const std::string& folder);

// Best effort, whatever the umask: where the group cannot be given, the file is for the owner, and for the
// group as far as it is for everybody.
void give_rights(int fd, const FilePlan&);

// Makes the folder and its parents where they are missing, for their owner only. Errors (refused).
Result<void> make_folder(const std::string& folder);

// The name of the files of a prefix, without an ending: "state" where it is empty, else the prefix with all
// but letters, digits, '-' and '_' escaped as %XX. Different prefixes have different names.
std::string file_stem(const std::string& prefix);

// "NFS" and the like, for the types that statfs gives; nothing for file systems of this machine alone.
std::optional<std::string> shared_file_system(std::int64_t type);

}  // namespace jobthrottle::local
