// SPDX-License-Identifier: MIT
#include "cli/commands.hpp"
#include "cli/print.hpp"
#include "cli/session.hpp"
#include "output/inspect.hpp"

namespace jobthrottle {

int execute(const ForgetOptions& options) {
    auto session = Session::open(options.common, Purpose::throttle);
    if (!session) return exit_with(session.error());
    const auto answer = session->store().forget(options.key, options.force);
    if (!answer) return session->exit_with(answer.error());
    const std::string key = options.key.shown();
    if (answer->forgotten) {
        const std::string text =
            answer->known ? key + " is forgotten" : key + " is not known: nothing to forget";
        return print(text + "\n") ? 0 : exit_code_of(ErrorKind::internal);
    }
    const std::size_t waiting = answer->waiting.size();
    say({key + " is not forgotten: " + std::to_string(waiting) +
             (waiting == 1 ? " job waits" : " jobs wait") + " on it; --force drops their places",
         {}});
    say_raw(waiting_text(answer->waiting, error_width()));
    return 1;
}

}  // namespace jobthrottle
