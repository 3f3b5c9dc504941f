// SPDX-License-Identifier: MIT
#include "output/json.hpp"

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "output/key_state.hpp"
#include "output/wording.hpp"

namespace jobthrottle {

namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string base64(std::string_view bytes) {
    static constexpr char k_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
        unsigned group = 0;
        for (std::size_t j = 0; j < 3; ++j)
            group = (group << 8) | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0u);
        for (std::size_t j = 0; j < 4; ++j)
            out += j <= count ? k_digits[(group >> (18 - 6 * j)) & 63] : '=';
    }
    return out;
}

// Text from outside: as it is where it is UTF-8, else escaped.
std::string text_of(const std::string& bytes) {
    return is_valid_utf8(bytes) ? bytes : escape_for_display(bytes);
}

Json with_key(const Key& key) {
    Json json = Json::object();
    json["key"] = text_of(key.bytes());
    if (!is_valid_utf8(key.bytes())) json["key_b64"] = base64(key.bytes());
    return json;
}

Json ms_or_null(Duration length) {
    return is_for_ever(length) ? Json(nullptr) : Json(ceil_ms(length));
}

Json limits_of(const KeyReport& report) {
    Json limits = Json::array();
    for (const LimitReport& one : report.limits) {
        const std::int64_t us = one.rate.period().count();
        Json limit = {{"allow", one.rate.allow()}};
        limit["every_ms"] = us % 1000 == 0 ? Json(us / 1000) : Json(static_cast<double>(us) / 1000.0);
        limit["burst"] = one.rate.burst();
        limit["registered"] = report.registration.has_value();
        limit["starts"] = one.starts;
        limit["remaining"] = one.remaining;
        limits.push_back(std::move(limit));
    }
    return limits;
}

// Of the limit that has the least.
Json remaining_of(const KeyReport& report) {
    Json least = nullptr;
    for (const LimitReport& limit : report.limits) {
        if (least.is_null() || limit.remaining < least.get<std::int64_t>()) least = limit.remaining;
    }
    return least;
}

Json note_of(const KeyReport& report) {
    if (!report.note) return nullptr;
    const PauseNote& note = *report.note;
    return {{"summary", text_of(note.summary)},
            {"line", text_of(note.line)},
            {"stream", text_of(note.stream)},
            {"job", text_of(note.job)},
            {"who", text_of(note.who)},
            {"reason", text_of(note.reason)},
            {"at_s", note.at_s}};
}

void put_who(Json& json, const std::string& who) {
    const auto space = who.rfind(' ');
    json["job"] = text_of(who.substr(0, space));
    json["where"] = space != std::string::npos ? text_of(who.substr(space + 1)) : "";
}

Json leases_of(const KeyReport& report) {
    Json leases = Json::array();
    for (const Holder& holder : report.holding) {
        Json json;
        put_who(json, holder.who);
        json["age_ms"] = ceil_ms(holder.age);
        json["left_ms"] = ceil_ms(holder.left);
        json["renewed_ago_ms"] = ceil_ms(holder.renewed);
        json["held"] = holder.held;
        json["place"] = holder.place;
        json["cost"] = holder.cost;
        leases.push_back(std::move(json));
    }
    return leases;
}

Json waiters_of(const KeyReport& report) {
    Json waiters = Json::array();
    std::int64_t place = 0;
    for (const auto& waiter : report.waiting) {
        const bool in_line = waiter.place == Place::in_line;
        Json json;
        json["place"] = in_line ? Json(++place) : Json(nullptr);
        put_who(json, waiter.who);
        json["cost"] = waiter.cost;
        json["waited_ms"] = ceil_ms(waiter.waited);
        const bool forecast = in_line && !all_places_taken(report);
        json["starts_in_ms"] = forecast ? ms_or_null(waiter.starts_in) : Json(nullptr);
        json["asks_in_ms"] = ceil_ms(waiter.asks_in);
        waiters.push_back(std::move(json));
    }
    return waiters;
}

void put_pause(Json& json, Duration left, bool for_ever) {
    json["paused_for_ms"] = for_ever ? Json(nullptr) : Json(ceil_ms(left));
    json["paused_forever"] = for_ever;
}

void put_report(Json& json, const KeyReport& report, bool with_jobs) {
    const std::int64_t in_line = count_in_line(report);
    json["limits"] = limits_of(report);
    json["registered_by"] = report.registration ? Json(text_of(report.registration->who)) : Json(nullptr);
    json["registered_at_s"] = report.registration ? Json(report.registration->at_s) : Json(nullptr);
    json["starts_in_window"] = report.limits.empty() ? 0 : report.limits.front().starts;
    json["remaining"] = remaining_of(report);
    const auto& concurrency = report.terms.concurrency();
    json["concurrency"] = concurrency ? Json(*concurrency) : Json(nullptr);
    json["places"] = report.places;
    if (with_jobs) json["leases"] = leases_of(report);
    json["limited"] = state_of(report) != KeyState::free;
    json["available_in_ms"] =
        report.paused_for_ever || all_places_taken(report) ? Json(nullptr) : ms_or_null(report.available_in);
    put_pause(json, report.paused_for, report.paused_for_ever);
    json["paused_by_hand"] = report.paused_by_hand;
    json["pause"] = note_of(report);
    json["waiting"] = in_line;
    if (with_jobs) json["waiters"] = waiters_of(report);
    json["late"] = static_cast<std::int64_t>(report.waiting.size()) - in_line;
    json["started"] = report.started;
    json["last_start_ago_ms"] =
        report.last_start_age_us < 0 ? Json(nullptr) : Json(ceil_ms(Duration{report.last_start_age_us}));
}

Json cause_of(const AdmitView& view) {
    if (view.admitted || !view.answer) return nullptr;
    if (view.answer->kind == AnswerKind::crowded) return "crowded";
    if (view.answer->paused_for > Duration::zero()) return "paused";
    if (held_by_leases(*view.answer)) return "lease";
    switch (view.answer->why) {
        case WaitCause::rate:
            return "rate";
        case WaitCause::paused:
            return "paused";
        case WaitCause::lease:
        case WaitCause::line:
            break;
    }
    return "line";
}

}  // namespace

std::string inspect_json(const InspectView& view) {
    Json json = with_key(view.key);
    json["known"] = view.report.known;
    json["store"] = text_of(view.store);
    json["shared"] = text_of(view.shared_note);
    if (!view.report.known) {
        Json nearest = Json::array();
        for (const auto& key : view.nearest)
            nearest.push_back(text_of(key));
        json["nearest"] = std::move(nearest);
        return dump(json);
    }
    put_report(json, view.report, true);
    json["now_s"] = std::chrono::floor<std::chrono::seconds>(view.now).time_since_epoch().count();
    return dump(json);
}

std::string keys_json(const std::vector<NamedReport>& keys) {
    std::string text = "[";
    for (const auto& [key, report] : most_limited_first(keys)) {
        Json json = with_key(key);
        json["known"] = report.known;
        put_report(json, report, false);
        text += (text.size() == 1 ? "\n" : ",\n") + dump(json);
    }
    return text + (keys.empty() ? "]" : "\n]");
}

std::string admit_json(const AdmitView& view) {
    Json json = with_key(view.key);
    json["admitted"] = view.admitted;
    json["unthrottled"] = view.unthrottled;
    json["wait_ms"] = ms_or_null(view.wait);
    json["waited_ms"] = ceil_ms(view.waited);
    json["why"] = cause_of(view);
    json["ahead"] = view.answer ? view.answer->ahead : 0;
    json["token"] = view.token.empty() ? Json(nullptr) : Json(view.token);
    return dump(json);
}

std::string pause_json(const Key& key, const PauseAnswer& answer) {
    Json json = with_key(key);
    put_pause(json, answer.left, answer.forever);
    json["changed"] = answer.changed;
    return dump(json);
}

}  // namespace jobthrottle
