// SPDX-License-Identifier: MIT
#include "store/redis/key_names.hpp"

#include "base/text.hpp"

namespace jobthrottle {

namespace {

constexpr std::string_view k_encoded = "%{}*?[]\\^";
constexpr char k_digits[] = "0123456789ABCDEF";

std::size_t utf8_sequence_length(std::string_view bytes) {
    for (std::size_t length = 2; length <= 4 && length <= bytes.size(); ++length) {
        if (is_valid_utf8(bytes.substr(0, length))) return length;
    }
    return 0;
}

int digit_value(char c) {
    const std::string_view digits = k_digits;
    const auto at = digits.find(c);
    return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

// The only bytes that encode_for_name() gives this text for, or nothing.
std::optional<std::string> decode_name(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        if (i + 2 >= text.size()) return std::nullopt;
        const int high = digit_value(text[i + 1]), low = digit_value(text[i + 2]);
        if (high < 0 || low < 0) return std::nullopt;
        out += static_cast<char>(high * 16 + low);
        i += 2;
    }
    if (encode_for_name(out) != text) return std::nullopt;
    return out;
}

std::string stem_of(const std::string& prefix, const Key& key) {
    return encode_for_name(prefix) + ":{" + encode_for_name(key.bytes()) + "}:";
}

}  // namespace

std::string encode_for_name(std::string_view bytes) {
    std::string out;
    while (!bytes.empty()) {
        const auto byte = static_cast<unsigned char>(bytes.front());
        std::size_t length = 1;
        const bool ascii = byte < 0x80;
        if (!ascii) length = utf8_sequence_length(bytes);
        const bool plain =
            ascii ? byte > 0x20 && byte != 0x7F && k_encoded.find(bytes.front()) == std::string_view::npos
                  : length > 0;
        if (plain) {
            out += bytes.substr(0, length);
        } else {
            length = 1;
            out += '%';
            out += k_digits[byte >> 4];
            out += k_digits[byte & 15];
        }
        bytes.remove_prefix(length);
    }
    return out;
}

std::vector<std::string> record_names(const std::string& prefix, const Key& key) {
    const std::string stem = stem_of(prefix, key);
    std::vector<std::string> names;
    names.reserve(k_record_names);
    for (const char* part : {"state", "recent", "tickets", "line", "due", "registered", "note", "log1",
                             "log2", "log3", "leases", "wake1", "wake2", "wake3", "wake4"})
        names.push_back(stem + part);
    return names;
}

std::string wake_list_name(const std::string& prefix, const Key& key, std::int64_t wake) {
    return stem_of(prefix, key) + "wake" + std::to_string(wake);
}

std::string names_pattern(const std::string& prefix) {
    return encode_for_name(prefix) + ":{*}:*";
}

std::optional<Key> key_of_name(const std::string& prefix, std::string_view name) {
    const std::string start = encode_for_name(prefix) + ":{";
    if (name.substr(0, start.size()) != start) return std::nullopt;
    name.remove_prefix(start.size());
    const auto close = name.find("}:");
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view part = name.substr(close + 2);
    if (part != "state" && part != "registered" && part != "note") return std::nullopt;
    auto bytes = decode_name(name.substr(0, close));
    if (!bytes) return std::nullopt;
    auto key = Key::make(std::move(*bytes));
    if (!key) return std::nullopt;
    return *key;
}

}  // namespace jobthrottle
