// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace jobthrottle {

// What chooses a store and how to reach it.
struct StoreSettings {
    // local:, local:/PATH, redis://[USER:PASSWORD@]HOST[:PORT][/DB] or unix:///PATH[?db=N]
    std::string url = "local:";
    std::string prefix = "jobthrottle";  // keeps applications apart in one store
    Duration connect_timeout = std::chrono::seconds{1};
    Duration command_timeout = std::chrono::seconds{2};
    std::optional<std::string> password;  // of a Redis; wins over one in the URL
    bool look_only = false;               // nothing is made that is not there: for inspect and keys
    // Something to read there ends a call that waits, with an `interrupted` error. -1: nothing does.
    // Borrowed.
    int interrupt_fd = -1;
};

// What there is to say once about a store: lines without the program's name. Later calls of the store may add
// to them.
using StoreNotices = std::vector<std::string>;

// The only place that knows all stores. Touches no network: a Redis is reached by the first call.
// REQUIRES: notices outlives the store.
// Errors: usage for a URL that is ill-formed, config for one that is well-formed but cannot be (a scheme that
// is not in this version, a folder that machines share), refused for a local folder that may not be made.
// None holds a password.
Result<std::unique_ptr<Store>> open_store(const StoreSettings&, StoreNotices& notices);

}  // namespace jobthrottle
