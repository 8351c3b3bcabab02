//! Times as BIND's key files write them: `YYYYMMDDHHMMSS`, UTC.

const DAY_S: u64 = 86_400;
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// `YYYYMMDDHHMMSS` of a time in seconds since 1970.
pub(crate) fn digits_of(time_s: u64) -> String {
    let (year, month, day) = civil_date(time_s / DAY_S);
    let (hour, minute, second) = time_of_day(time_s);
    format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}")
}

/// The same for people, as C's `asctime` has it: `Sun Nov 22 07:44:01 2026`.
pub(crate) fn words_of(time_s: u64) -> String {
    let days = time_s / DAY_S;
    let (year, month, day) = civil_date(days);
    let (hour, minute, second) = time_of_day(time_s);
    // 1970-01-01 was the first entry of WEEKDAYS, and civil_date gives months from 1 to 12.
    let weekday = WEEKDAYS[(days % 7) as usize];
    let month = MONTHS[month as usize - 1];
    format!("{weekday} {month} {day:>2} {hour:02}:{minute:02}:{second:02} {year:04}")
}

/// Seconds since 1970 of exactly 14 digits; `None` for anything else, also for a day that its month does not have.
pub(crate) fn seconds_of(digits: &str) -> Option<u64> {
    if digits.len() != 14 || !digits.bytes().all(|octet| octet.is_ascii_digit()) {
        return None;
    }
    let number = |from: usize, to: usize| digits[from..to].parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(4, 6)?, number(6, 8)?);
    let (hour, minute, second) = (number(8, 10)?, number(10, 12)?, number(12, 14)?);
    if year < 1970 || !(1..=12).contains(&month) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let days = days_of(year, month, day);
    (civil_date(days) == (year, month, day))
        .then_some(days * DAY_S + hour * 3600 + minute * 60 + second)
}

fn time_of_day(time_s: u64) -> (u64, u64, u64) {
    let second = time_s % DAY_S;
    (second / 3600, second / 60 % 60, second % 60)
}

/// Days of the years before `year`, counted from March of year 0 so that the leap day is a year's last.
fn days_before_year(year: u64) -> u64 {
    365 * year + year / 4 - year / 100 + year / 400
}

/// Days from 0000-03-01 to 1970-01-01.
const EPOCH_DAYS: u64 = 719_468;

/// The inverse of [`civil_date`] for dates from 1970 on.
fn days_of(year: u64, month: u64, day: u64) -> u64 {
    let (year, shifted_month) = match month {
        3.. => (year, month - 3),
        _ => (year - 1, month + 9),
    };
    let day_of_year = (153 * shifted_month + 2) / 5 + day;
    (days_before_year(year) + day_of_year).saturating_sub(EPOCH_DAYS + 1)
}

/// Year, month and day of the Gregorian calendar, `days` after 1970-01-01.
fn civil_date(days: u64) -> (u64, u64, u64) {
    let days = days + EPOCH_DAYS;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - days_before_year(year_of_era);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = match shifted_month {
        0..10 => shifted_month + 3,
        _ => shifted_month - 9,
    };
    (400 * era + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_times() {
        for (seconds, digits, words) in [
            (0, "19700101000000", "Thu Jan  1 00:00:00 1970"),
            (951_782_400, "20000229000000", "Tue Feb 29 00:00:00 2000"),
            (1_709_251_199, "20240229235959", "Thu Feb 29 23:59:59 2024"),
            (1_795_333_441, "20261122074401", "Sun Nov 22 07:44:01 2026"),
            (4_107_542_400, "21000301000000", "Mon Mar  1 00:00:00 2100"),
        ] {
            assert_eq!(digits_of(seconds), digits);
            assert_eq!(words_of(seconds), words);
            assert_eq!(seconds_of(digits), Some(seconds));
        }
    }

    #[test]
    fn what_is_no_time() {
        for text in [
            "",
            "2024",
            "20240230000000",
            "21000229000000",
            "20240101240000",
            "20240101006000",
            "20241301000000",
            "20240001000000",
            "20240100000000",
            "19691231235959",
            "2024010100000\u{e9}",
            "202401010000000",
            "+2024010100000",
        ] {
            assert_eq!(seconds_of(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn round_trip(seconds in 0..253_402_300_800_u64) {
            prop_assert_eq!(seconds_of(&digits_of(seconds)), Some(seconds));
        }

        #[test]
        fn any_digits(text in "[0-9]{14}") {
            if let Some(seconds) = seconds_of(&text) {
                prop_assert_eq!(digits_of(seconds), text);
            }
        }
    }
}
