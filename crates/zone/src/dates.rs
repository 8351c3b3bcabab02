//! Times of signatures and dates: YYYYMMDDHHmmSS in UTC (RFC 4034 section 3.2) and seconds since 1970.

const SECONDS_PER_DAY: u32 = 86_400;
/// Days from 0000-03-01 to 1970-01-01 of the Gregorian calendar.
const DAYS_BEFORE_1970: u32 = 719_468;
/// Days of 400 years.
const ERA_DAYS: u32 = 146_097;

/// Seconds since 1970 of a date of 14 digits between 1970 and 2106; `None` for anything else.
pub fn seconds_of_date(text: &[u8]) -> Option<u32> {
    if text.len() != 14 || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = |from: usize, to: usize| {
        text[from..to]
            .iter()
            .fold(0, |value, digit| value * 10 + u32::from(digit - b'0'))
    };
    let (year, month, day) = (number(0, 4), number(4, 6), number(6, 8));
    let (hour, minute, second) = (number(8, 10), number(10, 12), number(12, 14));
    if year < 1970 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let days = days_since_1970(year, month, day)?;
    // Also refuses days that the month does not have.
    if civil_date(days) != (year, month, day) {
        return None;
    }
    let seconds = u64::from(days) * u64::from(SECONDS_PER_DAY)
        + u64::from(hour * 3600 + minute * 60 + second);
    u32::try_from(seconds).ok()
}

/// Appends `seconds` since 1970 as 14 digits.
pub fn push_date(seconds: u32, target: &mut Vec<u8>) {
    let (year, month, day) = civil_date(seconds / SECONDS_PER_DAY);
    let second = seconds % SECONDS_PER_DAY;
    let numbers = [
        year / 100,
        year % 100,
        month,
        day,
        second / 3600,
        second / 60 % 60,
        second % 60,
    ];
    for number in numbers {
        target.extend([b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]);
    }
}

/// The day of `seconds` since 1970 as a number of the digits YYYYMMDD.
pub fn date_digits(seconds: u32) -> u32 {
    let (year, month, day) = civil_date(seconds / SECONDS_PER_DAY);
    year * 10_000 + month * 100 + day
}

// Years are counted from March, so that the leap day is a year's last.
fn days_since_1970(year: u32, month: u32, day: u32) -> Option<u32> {
    if !(1..=12).contains(&month) || day == 0 {
        return None;
    }
    let year = year - u32::from(month <= 2);
    let shifted_month = (month + 9) % 12;
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    let (era, year_of_era) = (year / 400, year % 400);
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    (era * ERA_DAYS + day_of_era).checked_sub(DAYS_BEFORE_1970)
}

fn civil_date(days_since_1970: u32) -> (u32, u32, u32) {
    let days = days_since_1970 + DAYS_BEFORE_1970;
    let (era, day_of_era) = (days / ERA_DAYS, days % ERA_DAYS);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    (400 * era + year_of_era + u32::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dates() {
        for (seconds, text) in [
            (0, "19700101000000"),
            (951_782_400, "20000229000000"),
            (1_709_251_199, "20240229235959"),
            (4_107_542_400, "21000301000000"),
            (u32::MAX, "21060207062815"),
        ] {
            assert_eq!(seconds_of_date(text.as_bytes()), Some(seconds));
        }
        for text in [
            "2024",
            "20230229000000",
            "20240001000000",
            "20240100000000",
            "20240101240000",
            "21060207062816",
        ] {
            assert_eq!(seconds_of_date(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(seconds: u32) {
            let mut text = Vec::new();
            push_date(seconds, &mut text);
            prop_assert_eq!(seconds_of_date(&text), Some(seconds));
        }
    }
}
