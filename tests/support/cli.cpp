// SPDX-License-Identifier: MIT
#include "support/cli.hpp"

namespace jobthrottle::test {

std::string program_path() {
    return JT_PROGRAM;
}

ProgramOptions Sandbox::options() const {
    ProgramOptions options;
    options.env = {{"HOME", path()}, {"JOBTHROTTLE_STORE", store_url()}};
    options.cwd = path();
    return options;
}

Argv Sandbox::command(const Argv& args) const {
    Argv argv = {program_path()};
    argv.insert(argv.end(), args.begin(), args.end());
    return argv;
}

}  // namespace jobthrottle::test
