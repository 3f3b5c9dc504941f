// SPDX-License-Identifier: MIT
#include "cli/commands.hpp"
#include "cli/print.hpp"
#include "cli/session.hpp"
#include "output/inspect.hpp"

namespace jobthrottle {

namespace {

std::string counted(std::size_t count, const char* one, const char* many) {
    return std::to_string(count) + (count == 1 ? one : many);
}

// "2 jobs wait on it and 1 runs".
std::string in_the_way(const ForgetAnswer& answer) {
    const std::size_t waiting = answer.waiting.size();
    const std::size_t running = answer.holding.size();
    if (running == 0) return counted(waiting, " job waits on it", " jobs wait on it");
    if (waiting == 0) return counted(running, " job holds a place of it", " jobs hold a place of it");
    return counted(waiting, " job waits on it", " jobs wait on it") + " and " +
           counted(running, " holds a place", " hold a place");
}

}  // namespace

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
    say({key + " is not forgotten: " + in_the_way(*answer) + "; --force drops their places", {}});
    say_raw(jobs_text(answer->waiting, answer->holding, error_width()));
    return 1;
}

}  // namespace jobthrottle
