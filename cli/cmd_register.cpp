// SPDX-License-Identifier: MIT
#include "cli/commands.hpp"
#include "cli/machine.hpp"
#include "cli/print.hpp"
#include "cli/session.hpp"

namespace jobthrottle {

int execute(const RegisterOptions& options) {
    auto session = Session::open(options.common, Purpose::throttle);
    if (!session) return exit_with(session.error());
    const auto there = session->store().registration(options.key);
    if (!there) return session->exit_with(there.error());
    const bool differs = *there && (*there)->terms != options.terms;
    if (differs && !options.replace) {
        return exit_with(config_error(options.key.shown() + " is registered at " + (*there)->terms.text() +
                                      " by " + (*there)->who + ": give --replace to register " +
                                      options.terms.text() + " instead. Nothing was changed"));
    }
    // What the jobs brought is seen only until something is registered.
    const auto report = session->store().inspect(options.key);
    const auto now = std::chrono::duration_cast<std::chrono::seconds>(wall_now().time_since_epoch()).count();
    const Registration wanted{options.terms, now, user_and_host()};
    const auto before = session->store().set_registration(options.key, wanted);
    if (!before) return session->exit_with(before.error());
    const std::string text = register_text(options.key, options.terms, differs ? *before : std::nullopt);
    if (!print(text + "\n")) return exit_code_of(ErrorKind::internal);
    if (*there || !report || options.common.quiet) return 0;
    if (const auto line = say_beside_registered(options.key, report->terms, options.terms)) say(*line);
    return 0;
}

int execute(const UnregisterOptions& options) {
    auto session = Session::open(options.common, Purpose::throttle);
    if (!session) return exit_with(session.error());
    const auto before = session->store().set_registration(options.key, std::nullopt);
    if (!before) return session->exit_with(before.error());
    return print(unregister_text(options.key, *before) + "\n") ? 0 : exit_code_of(ErrorKind::internal);
}

}  // namespace jobthrottle
