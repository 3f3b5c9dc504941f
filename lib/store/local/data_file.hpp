// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.hpp"
#include "store/local/environment.hpp"
#include "store/local/key_table.hpp"
#include "store/local/place.hpp"

namespace jobthrottle::local {

// Makes a data file at `path`, in place of any there: the record about itself, and what `fill` puts.
// On failure nothing is left. REQUIRES: nobody has a file at `path` open.
Failure make_data_file(const std::string& path, const FilePlan&, const StoreRecord&, std::size_t map_bytes,
                       const std::function<void(Transaction&)>& fill = {});

// Gives the file, whatever it is, a name that says it was torn and when, and returns that name.
Result<std::string> set_aside(const std::string& path, std::int64_t wall_us);

}  // namespace jobthrottle::local
