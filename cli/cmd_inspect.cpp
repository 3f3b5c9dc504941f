// SPDX-License-Identifier: MIT
#include <cstdlib>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/ending.hpp"
#include "cli/machine.hpp"
#include "cli/print.hpp"
#include "cli/session.hpp"
#include "output/inspect.hpp"
#include "output/json.hpp"

namespace jobthrottle {

namespace {

bool wants_colour() {
    const char* no_colour = std::getenv("NO_COLOR");
    return output_is_terminal() && (no_colour == nullptr || *no_colour == '\0');
}

}  // namespace

int execute(const InspectOptions& options) {
    auto session = Session::open(options.common, Purpose::look);
    if (!session) return exit_with(session.error());
    const auto report = session->store().inspect(options.key);
    if (!report) return session->exit_with(report.error());
    const LocalTime now = local_now();
    InspectView view{
        options.key, session->store().name(), session->shared_note(), *report, now.wall, now.utc_offset_s, {},
        options.all};
    if (!report->known) view.nearest = nearest_keys(session->store(), options.key);
    const std::string text =
        options.json ? inspect_json(view) + "\n" : inspect_text(view, output_width(), wants_colour());
    if (!print(text)) return exit_code_of(ErrorKind::internal);
    return report->known ? 0 : 1;
}

int execute(const KeysOptions& options) {
    auto session = Session::open(options.common, Purpose::look);
    if (!session) return exit_with(session.error());
    auto found = session->store().keys(options.pattern);
    if (!found) return session->exit_with(found.error());
    std::vector<NamedReport> reports;
    reports.reserve(found->size());
    for (auto& [key, report] : *found)
        reports.emplace_back(std::move(key), std::move(report));
    const std::string text =
        options.json ? keys_json(reports) + "\n" : keys_text(reports, output_width(), wants_colour());
    if (!print(text)) return exit_code_of(ErrorKind::internal);
    // An empty list is a result too, and a program that reads it wants no words.
    if (reports.empty() && !options.json && output_is_terminal() && !options.common.quiet) {
        const bool all = options.pattern == "*";
        say({(all ? "no keys in " : "no key matches '" + escape_for_display(options.pattern) + "' in ") +
                 escape_for_display(session->store().name()),
             {}});
    }
    return 0;
}

}  // namespace jobthrottle
