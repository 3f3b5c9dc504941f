// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace jobthrottle {

// Little-endian fields of a fixed width, as records hold them in every store.
void put_field(std::string& out, std::int64_t value, std::size_t bytes = 8);
// REQUIRES: `width` bytes, at most 8, are there.
std::int64_t field_at(std::string_view bytes, std::size_t offset, std::size_t width = 8);

}  // namespace jobthrottle
