// SPDX-License-Identifier: MIT
// What is said of the limits of a key, and of the places that jobs hold.
#include "base/text.hpp"
#include "core/duration.hpp"
#include "output/messages.hpp"
#include "output/wording.hpp"

namespace jobthrottle {

namespace {

constexpr const char* k_nothing_run = " Nothing was run.";

std::string terms_text(const Terms& terms) {
    return terms.empty() ? "no limit" : terms.text();
}

std::string registered_at(const Key& key, const Answer& answer,
                          const std::optional<Registration>& registered) {
    return key.shown() + " is registered at " + terms_text(answer.registered.value_or(Terms{})) +
           by_whom(registered);
}

std::string lost_ago(Duration lost_for) {
    return lost_for > Duration::zero() ? " " + past_text(lost_for) + " ago" : "";
}

Line about_lease(const Key& key, const char* why, Duration lost_for, const std::string& text) {
    return {key.shown() + ": " + text,
            {{"key", key.bytes()}, {"why", why}, {"lost_ms", std::to_string(ceil_ms(lost_for))}}};
}

// "Give --rate or -j again": which of them it was.
std::string options_meant(const Terms& terms) {
    if (terms.rates().empty()) return "-j";
    return terms.concurrency() ? "--rate and -j" : "--rate";
}

}  // namespace

Line say_other_numbers(const Key& key, const Terms& brought, const Answer& answer,
                       const std::optional<Registration>& registered) {
    Line line{"", {{"key", key.bytes()}}};
    if (!brought.empty()) line.fields.emplace_back("brought", brought.text());
    if (answer.registered && !answer.terms.empty() && answer.terms != brought) {
        const std::string held = answer.terms == *answer.registered ? "that" : answer.terms.text();
        line.text = registered_at(key, answer, registered) + ": this job is held to " + held +
                    ", not to its " + terms_text(brought) + " (--override lets it)";
        line.fields.emplace_back("registered", answer.registered->text());
    } else {
        const std::string other = terms_text(answer.other.value_or(Terms{}));
        line.text = key.shown() + " was last asked for with " + other + ", this job comes with " +
                    terms_text(brought) + ": each is judged by its own numbers";
        line.fields.emplace_back("other", other);
    }
    return line;
}

Line say_lease_lost(const Key& key, Duration lost_for, bool killed) {
    const bool ran_out = lost_for > Duration::zero();
    std::string text = "the place of this job ";
    if (killed) {
        // In time, or already gone from the store: which of them is not known here.
        text += (ran_out ? "was lost" + lost_ago(lost_for) : "could not be renewed") +
                ": the command is ended, for its place could be another's (--on-lease-lost kill)";
    } else {
        text += ran_out ? "was lost" + lost_ago(lost_for) + ", not renewed for longer than --lock-for"
                        : "is gone from the store (released by another, or lost with the store's state)";
        text += ": another may run beside it";
    }
    return about_lease(key, "lease_lost", lost_for, text);
}

Line say_lease_retaken(const Key& key, Duration lost_for) {
    return about_lease(key, "lease_retaken", lost_for,
                       "the place that was lost" + lost_ago(lost_for) + " is held again");
}

Line say_no_limit(const Key& key, const Terms& last, const std::vector<std::string>& nearest) {
    if (!last.empty()) {
        return {"no limit given for key '" + key.shown() + "', which was last run with " + last.text() +
                    ". Give " + options_meant(last) + " again, or register it: " +
                    command_for("register", key.bytes(), limit_options(last)) + "." + k_nothing_run,
                {{"key", key.bytes()}, {"last", last.text()}, {"exit", "78"}}};
    }
    std::string near;
    for (const auto& other : nearest)
        near += (near.empty() ? " (nearest: " : ", ") + escape_for_display(other);
    if (!near.empty()) near += ")";
    return {"no limit known for key '" + key.shown() + "'" + near +
                ". Give --rate or -j, register it, or say --pause-only." + k_nothing_run,
            {{"key", key.bytes()}, {"exit", "78"}}};
}

Line say_conflict(const Key& key, const Terms& brought, const Answer& answer,
                  const std::optional<Registration>& registered) {
    return {registered_at(key, answer, registered) + "; with " + terms_text(brought) +
                " these are more than four limits. Leave some away, or say --override." + k_nothing_run,
            {{"key", key.bytes()}, {"exit", "78"}}};
}

Line say_too_costly(const Key& key, std::int64_t cost, const Answer& answer,
                    const std::optional<Registration>& registered) {
    const std::string by =
        answer.registered ? " (" + registered_at(key, answer, registered) + ")" : std::string();
    return {key.shown() + ": a job of --cost " + std::to_string(cost) + " could never start under " +
                terms_text(answer.terms) + by + "." + k_nothing_run,
            {{"key", key.bytes()}, {"cost", std::to_string(cost)}, {"exit", "78"}}};
}

Line say_nested(const Key& key) {
    return {"this job is part of a run that holds a place of " + key.shown() +
                ", and could wait for itself for ever. Leave the key away inside." + k_nothing_run,
            {{"key", key.bytes()}, {"exit", "78"}}};
}

std::string register_text(const Key& key, const Terms& terms, const std::optional<Registration>& before) {
    std::string text = key.shown() + " is registered at " + terms.text();
    if (!before) return text;
    return text + ", before at " + before->terms.text() + by_whom(before);
}

std::optional<Line> say_beside_registered(const Key& key, const Terms& last, const Terms& registered) {
    const auto both = strictest(last, registered);
    if (both && *both == registered) return std::nullopt;
    const std::string what =
        both ? "is held to " + both->text() : "is refused (78), for these would be more than four limits";
    return Line{key.shown() + " was last run with " + last.text() + ": from now on a job that brings " +
                    last.text() + " " + what,
                {{"key", key.bytes()}, {"last", last.text()}}};
}

std::string unregister_text(const Key& key, const std::optional<Registration>& before) {
    if (!before) return key.shown() + " was not registered";
    return key.shown() + " is no longer registered (it was at " + before->terms.text() + by_whom(before) +
           ")";
}

Line say_lost(const Key& key, Duration lost_for, int exit_code) {
    Line line = about_lease(key, "lost", lost_for,
                            "the lease was lost" + lost_ago(lost_for) + ": another may have its place");
    line.fields.emplace_back("exit", std::to_string(exit_code));
    return line;
}

Line say_not_held(const Key& key, int exit_code) {
    return {key.shown() + ": not held: never taken, released before, or lost more than 10 minutes ago",
            {{"key", key.bytes()}, {"why", "not_held"}, {"exit", std::to_string(exit_code)}}};
}

Line say_not_settled(const Key& key, int exit_code) {
    return {key.shown() + ": not settled: this attempt was run without --cost, or is over",
            {{"key", key.bytes()}, {"why", "not_settled"}, {"exit", std::to_string(exit_code)}}};
}

std::string released_text(const std::vector<Holder>& holders) {
    std::string text;
    for (const Holder& holder : holders) {
        const WaiterName name = waiter_name_of(holder.who);
        text += "released " + name.job + (name.where.empty() ? "" : " of " + name.where) + ", held for " +
                past_text(holder.age) + "\n";
    }
    return text;
}

}  // namespace jobthrottle
