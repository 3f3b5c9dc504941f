// SPDX-License-Identifier: MIT
#include "output/wall_clock.hpp"

#include <cstdio>

#include "core/slots.hpp"

namespace jobthrottle {

namespace {

using namespace std::chrono;

using LocalSeconds = time_point<system_clock, seconds>;

constexpr const char* k_months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

std::string text_of(LocalSeconds local) {
    const hh_mm_ss time{local - floor<days>(local)};
    char text[32];
    std::snprintf(text, sizeof text, "%02d:%02d:%02d", static_cast<int>(time.hours().count()),
                  static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()));
    return text;
}

}  // namespace

std::string clock_text(WallTime wall, int utc_offset_s) {
    return text_of(floor<seconds>(wall) + seconds{utc_offset_s});
}

std::string moment_text(WallTime wall, const LocalTime& now) {
    const seconds offset{now.utc_offset_s};
    const LocalSeconds local = ceil<seconds>(wall) + offset;
    const auto day = floor<days>(local);
    if (day == floor<days>(now.wall + offset)) return text_of(local);
    const year_month_day date{day};
    const std::string day_month = std::to_string(static_cast<unsigned>(date.day())) + " " +
                                  k_months[static_cast<unsigned>(date.month()) - 1];
    const auto apart = local - floor<seconds>(now.wall + offset);
    if (apart > days{183} || apart < -days{183}) {
        return day_month + " " + std::to_string(static_cast<int>(date.year()));
    }
    return day_month + " " + text_of(local).substr(0, 5);
}

WallTime wall_time_s(std::int64_t seconds_since_epoch) {
    return WallTime{seconds{seconds_since_epoch}};
}

bool is_for_ever(Duration length) {
    return length >= Duration{k_far_us};
}

}  // namespace jobthrottle
