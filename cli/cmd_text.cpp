// SPDX-License-Identifier: MIT
#include "cli/commands.hpp"
#include "cli/print.hpp"

namespace jobthrottle {

int execute(const ShowText& options) {
    return print(options.text) ? 0 : exit_code_of(ErrorKind::internal);
}

}  // namespace jobthrottle
