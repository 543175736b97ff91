//! Dates to seconds since 1970-01-01 and back, in the proleptic Gregorian calendar.

/// Seconds in a day.
const DAY: i64 = 86_400;

/// A moment, in parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Civil {
    pub(super) year: i64,
    pub(super) month: u8,
    pub(super) day: u8,
    pub(super) hour: u8,
    pub(super) minute: u8,
    pub(super) second: u8,
}

/// Reads a date written like `2026-11-15`, `2026/11/15`, `2026-11-15 03:44`, or `2026-11-15T03:44:12.5Z` (or with an offset
/// such as `+02:00`), as seconds since 1970-01-01 00:00 UTC.
///
/// ```
/// use gatewood::encode::parse_date;
/// assert_eq!(parse_date("1970-01-02"), Some(86_400.0));
/// assert_eq!(parse_date("1970-01-01T01:00:00+01:00"), Some(0.0));
/// assert_eq!(parse_date("1970-02-30"), None);
/// ```
pub fn parse_date(text: &str) -> Option<f64> {
    let text = text.as_bytes();
    if text.len() < 10 || !matches!(text[4], b'-' | b'/') || text[7] != text[4] {
        return None;
    }
    let (year, month, day) = (digits(&text[..4])?, digits(&text[5..7])?, digits(&text[8..10])?);
    if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) {
        return None;
    }
    let days = days_from_civil(year, month, day);
    let (time, offset) = match &text[10..] {
        [] => (0.0, 0),
        [b' ' | b'T' | b't', time @ ..] => parse_time(time)?,
        _ => return None,
    };
    Some((days * DAY - offset) as f64 + time)
}

/// A time of day with perhaps an offset: seconds since midnight, seconds east of Greenwich.
fn parse_time(text: &[u8]) -> Option<(f64, i64)> {
    let zone = text.iter().position(|byte| matches!(byte, b'Z' | b'z' | b'+' | b'-')).unwrap_or(text.len());
    let (time, zone) = text.split_at(zone);
    let offset = match zone {
        [] | [b'Z' | b'z'] => 0,
        [sign, hours @ ..] => {
            let seconds = match hours {
                [a, b] => digits(&[*a, *b])? * 3600,
                [a, b, b':', c, d] | [a, b, c, d] => digits(&[*a, *b])? * 3600 + digits(&[*c, *d])? * 60,
                _ => return None,
            };
            if *sign == b'-' { -seconds } else { seconds }
        }
    };
    let (clock, fraction) = match time.iter().position(|&byte| byte == b'.') {
        Some(dot) if dot == 8 && time.len() > 9 && time.len() < 19 => {
            let fraction = digits(&time[dot + 1..])? as f64 / 10f64.powi((time.len() - dot - 1) as i32);
            (&time[..dot], fraction)
        }
        Some(_) => return None,
        None => (time, 0.0),
    };
    let (hour, minute, second) = match clock.len() {
        5 if clock[2] == b':' => (digits(&clock[..2])?, digits(&clock[3..5])?, 0),
        8 if clock[2] == b':' && clock[5] == b':' => {
            (digits(&clock[..2])?, digits(&clock[3..5])?, digits(&clock[6..8])?)
        }
        _ => return None,
    };
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    Some(((hour * 3600 + minute * 60 + second) as f64 + fraction, offset))
}

fn digits(text: &[u8]) -> Option<i64> {
    text.iter()
        .try_fold(0i64, |number, byte| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0')))
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01. Years are counted from March, so that the leap day is the last of its year.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The moment in parts; what is far out of range is cut to the years around ±200,000.
pub(super) fn civil(seconds: f64) -> Civil {
    let seconds = seconds.clamp(-6.4e12, 6.4e12).floor() as i64;
    let (days, time) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let month = (month_from_march + 2) % 12 + 1;
    Civil {
        year: era * 400 + year_of_era + i64::from(month <= 2),
        month: month as u8,
        day: (day_of_year - (153 * month_from_march + 2) / 5 + 1) as u8,
        hour: (time / 3600) as u8,
        minute: (time / 60 % 60) as u8,
        second: (time % 60) as u8,
    }
}

/// 1 for Monday to 7 for Sunday.
pub(super) fn weekday(seconds: f64) -> u8 {
    let days = (seconds.clamp(-6.4e12, 6.4e12) / DAY as f64).floor() as i64;
    // 1970-01-01 was a Thursday.
    ((days + 3).rem_euclid(7) + 1) as u8
}

/// A moment in seconds since 1970-01-01 00:00 UTC as text, as short as it can be; [`parse_date`] reads it.
///
/// ```
/// use gatewood::encode::show_date;
/// assert_eq!(show_date(951_782_400.0), "2000-02-29");
/// assert_eq!(show_date(1e9), "2001-09-09 01:46:40");
/// ```
pub fn show_date(seconds: f64) -> String {
    let Civil { year, month, day, hour, minute, second } = civil(seconds);
    let date = format!("{year:04}-{month:02}-{day:02}");
    match (hour, minute, second) {
        (0, 0, 0) => date,
        (_, _, 0) => format!("{date} {hour:02}:{minute:02}"),
        _ => format!("{date} {hour:02}:{minute:02}:{second:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_is_a_date_and_nothing_else() {
        let cases = [
            ("1970-01-01", Some(0.0)),
            ("2000-02-29", Some(951_782_400.0)),
            ("2001/09/09 01:46:40", Some(1e9)),
            ("2001-09-09T01:46:40Z", Some(1e9)),
            ("2001-09-09T03:46:40.25+0200", Some(1e9 + 0.25)),
            ("2001-09-08T21:46-04", Some(1e9 - 40.0)),
            ("1900-02-29", None),
            ("2000-13-01", None),
            ("2000-00-01", None),
            ("2000-01-01x", None),
            ("2000-01-01 25:00", None),
            ("2000-01-01T12", None),
            ("2000-01/01", None),
            ("20000101", None),
            ("", None),
        ];
        for (text, seconds) in cases {
            assert_eq!(parse_date(text), seconds, "{text}");
        }
    }

    proptest! {
        #[test]
        fn shown_dates_read_back(seconds in -60_000_000_000i64..250_000_000_000) {
            prop_assert_eq!(parse_date(&show_date(seconds as f64)), Some(seconds as f64));
            let tomorrow = weekday((seconds + DAY) as f64);
            prop_assert_eq!(weekday(seconds as f64) % 7 + 1, tomorrow);
        }
    }
}
