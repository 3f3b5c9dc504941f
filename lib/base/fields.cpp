// SPDX-License-Identifier: MIT
#include "base/fields.hpp"

namespace jobthrottle {

void put_field(std::string& out, std::int64_t value, std::size_t bytes) {
    auto bits = static_cast<std::uint64_t>(value);
    for (; bytes > 0; --bytes, bits >>= 8)
        out.push_back(static_cast<char>(bits & 0xFF));
}

std::int64_t field_at(std::string_view bytes, std::size_t offset, std::size_t width) {
    std::uint64_t bits = 0;
    for (std::size_t i = width; i-- > 0;)
        bits = bits << 8 | static_cast<unsigned char>(bytes[offset + i]);
    return static_cast<std::int64_t>(bits);
}

}  // namespace jobthrottle
