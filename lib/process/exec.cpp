// SPDX-License-Identifier: MIT
#include "process/exec.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

namespace jobthrottle {

namespace {

// exec takes pointers to char and writes to none of them.
char* for_exec(const std::string& text) {
    return const_cast<char*>(text.c_str());
}

std::string_view name_of(std::string_view entry) {
    return entry.substr(0, entry.find('='));
}

}  // namespace

ExecImage::ExecImage(const Command& command) {
    m_argv.reserve(command.argv.size() + 1);
    for (const auto& argument : command.argv)
        m_argv.push_back(for_exec(argument));
    m_argv.push_back(nullptr);

    m_added.reserve(command.extra_environment.size());
    for (const auto& [name, value] : command.extra_environment)
        m_added.emplace_back(name).append("=").append(value);
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const auto name = name_of(*entry);
        const bool replaced = std::any_of(m_added.begin(), m_added.end(),
                                          [&](const auto& added) { return name_of(added) == name; });
        if (!replaced) m_environment.push_back(*entry);
    }
    for (const auto& added : m_added)
        m_environment.push_back(for_exec(added));
    m_environment.push_back(nullptr);
}

int ExecImage::exec() const {
    execvpe(m_argv[0], m_argv.data(), m_environment.data());
    return errno;
}

std::size_t ExecImage::stack_need() const {
    // For a file without #! the C library lays out a second argv on the stack, and it joins paths there.
    constexpr std::size_t k_frames = std::size_t{128} * 1024;
    return k_frames + 2 * sizeof(char*) * m_argv.size();
}

ChildEnd end_of_failed_exec(int error) {
    if (error == ENOENT) return NotFound{};
    return NotExecutable{error};
}

}  // namespace jobthrottle
