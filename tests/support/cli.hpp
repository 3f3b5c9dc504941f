// SPDX-License-Identifier: MIT
// The built program, run as a user would. Link jt_test_cli for it.
#pragma once

#include <string>

#include "support/run_program.hpp"
#include "support/temp_dir.hpp"

namespace jobthrottle::test {

// The path of the built program.
std::string program_path();

// A folder that is HOME and working directory, with a local store in it that JOBTHROTTLE_STORE names.
class Sandbox {
public:
    Sandbox() = default;

    const std::string& path() const { return m_dir.path(); }
    std::string file(std::string_view name) const { return m_dir.file(name); }
    std::string store_url() const { return "local:" + file("store"); }

    // What run() gives to the program unless told otherwise; change what matters and hand it in. Erase
    // JOBTHROTTLE_STORE from `env` to run without a chosen store.
    ProgramOptions options() const;

    // `args` without the program's name: {"run", "-k", "a", "-r", "5/s", "--", "true"}.
    Argv command(const Argv& args) const;
    ProgramResult run(const Argv& args) const { return run_program(command(args), options()); }
    ProgramResult run(const Argv& args, ProgramOptions options) const {
        return run_program(command(args), std::move(options));
    }
    Program start(const Argv& args) const { return Program(command(args), options()); }
    Program start(const Argv& args, ProgramOptions options) const {
        return Program(command(args), std::move(options));
    }

private:
    TempDir m_dir;
};

}  // namespace jobthrottle::test
