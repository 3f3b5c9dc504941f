// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "store/store.hpp"

// The store of one machine: a file that all processes share, no server. doc/local-store.md describes it.
namespace jobthrottle {

// What the store asks the system for; tests put their own in place. Empty: the system's.
struct LocalHooks {
    std::function<std::int64_t()> clock_us;  // since boot, suspend included; called while the lock is held
    std::function<std::int64_t()> wall_us;   // since the epoch
    std::function<std::string()> boot_id;    // another text: the machine was started anew
    std::function<std::int64_t(const std::string& path)> file_system_type;  // statfs's f_type
};

struct LocalOptions {
    std::string path;    // the folder of `local:PATH`, absolute; empty: the default place
    std::string prefix;  // each has a file of its own; empty: the usual one
    // How long a call waits for other processes, at the most; then the store is `unavailable`.
    Duration command_timeout = std::chrono::seconds{2};
    // Asked now and then while a call waits; true ends it with an error `interrupted`.
    std::function<bool()> interrupted;
    // Told, in one line without the program's name, that a file was torn or foreign and is set aside.
    std::function<void(const std::string&)> notice;
    std::string system_folder = "/var/lib/jobthrottle";  // the default place where it exists
    bool look_only = false;  // makes no folder: where it is missing the store is empty and stays so
    LocalHooks hooks;
};

struct LocalPlace {
    std::string folder;      // absolute; it need not exist yet
    bool only_user = false;  // the default place of this user alone: inspect and doctor say so
    bool fell_back = false;  // the system's folder exists but may not be written: one line per run
};

// Where the store is, without touching it. Errors (config): the path is not absolute, no home folder is
// known, or it is on a file system that machines share, where such a store breaks; the message names a path
// that works.
Result<LocalPlace> find_local_place(const LocalOptions&);

// Makes the folder where it is missing; the file is opened, and made, by the first call. Error (refused): the
// folder cannot be made; of the default place it says what to do.
//
// Calls wait for others for command_timeout at most. rest() closes all files. Descriptors are closed on exec.
// While a call has the lock, INT, TERM, HUP, QUIT and TSTP are held back.
Result<std::unique_ptr<Store>> open_local_store(const LocalOptions&, const LocalPlace&);
Result<std::unique_ptr<Store>> open_local_store(const LocalOptions&);  // at find_local_place()

}  // namespace jobthrottle
