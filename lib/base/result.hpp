// SPDX-License-Identifier: MIT
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace jobthrottle {

// What the caller of a failed call can do about it. Few on purpose.
enum class ErrorKind {
    usage,        // the user typed something wrong: exit 64
    config,       // settings are wrong: exit 78
    unavailable,  // the store is away: the policy of --on-store-error decides
    refused,      // the store is there and says no (rights, full, wrong type): exit 69, never unthrottled
    interrupted,  // a signal ended the call: exit 128 + n
    internal,     // a fault of our own: exit 125
};

// `message` is one line for a person, without the program's name and without a newline. It never holds a
// password. Text from outside in it is escaped by whoever prints it.
struct Error {
    ErrorKind kind = ErrorKind::internal;
    std::string message;
};

// A value or an Error. All of lib/ reports failure this way and throws nothing of its own.
// REQUIRES: value() only when the result holds a value, error() only when it does not.
template <typename T>
class [[nodiscard]] Result {
public:
    Result(T value) : m_value(std::move(value)) {}
    Result(Error error) : m_value(std::move(error)) {}

    bool ok() const { return m_value.index() == 0; }
    explicit operator bool() const { return ok(); }

    const T& value() const& {
        assert(ok());
        return std::get<0>(m_value);
    }
    T& value() & {
        assert(ok());
        return std::get<0>(m_value);
    }
    T&& value() && {
        assert(ok());
        return std::move(std::get<0>(m_value));
    }
    const T& operator*() const& { return value(); }
    T& operator*() & { return value(); }
    const T* operator->() const { return &value(); }
    T* operator->() { return &value(); }

    const Error& error() const {
        assert(!ok());
        return std::get<1>(m_value);
    }

private:
    std::variant<T, Error> m_value;
};

// A call that has no value to give.
template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : m_error(std::move(error)), m_ok(false) {}

    bool ok() const { return m_ok; }
    explicit operator bool() const { return ok(); }
    const Error& error() const {
        assert(!m_ok);
        return m_error;
    }

private:
    Error m_error;
    bool m_ok = true;
};

inline Error usage_error(std::string message) {
    return {ErrorKind::usage, std::move(message)};
}
inline Error config_error(std::string message) {
    return {ErrorKind::config, std::move(message)};
}
inline Error unavailable_error(std::string message) {
    return {ErrorKind::unavailable, std::move(message)};
}
inline Error refused_error(std::string message) {
    return {ErrorKind::refused, std::move(message)};
}
inline Error internal_error(std::string message) {
    return {ErrorKind::internal, std::move(message)};
}

}  // namespace jobthrottle
