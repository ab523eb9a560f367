//! Days of the calendar, of seconds since 1970.

const DAY: i64 = 24 * 60 * 60;
/// Days of four hundred years, after which the calendar repeats itself.
const ERA: i64 = 146_097;
/// Days from the first of March of the year 0 to the first of January 1970.
const BEFORE_1970: i64 = 719_468;

/// The day as `2026-11-23`, in UTC.
pub fn day(seconds: i64) -> String {
    let days = seconds.div_euclid(DAY) + BEFORE_1970;
    let (era, day) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    // Years begin in March, so that a leap day is the last day of its year.
    let year = (day - day / 1_460 + day / 36_524 - day / (ERA - 1)) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 {
        (year, month + 3)
    } else {
        (year + 1, month - 9)
    };
    format!("{:04}-{month:02}-{day:02}", year + era * 400)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (days, told) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_514, "2026-03-02"),
            (20_818, "2026-12-31"),
            (-1, "1969-12-31"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(day(days * DAY + 3_600), told);
        }
    }
}
