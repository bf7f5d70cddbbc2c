//! Dates and times.

use rarely_output::{Ticks, utc};

fn written(ticks: Ticks, count: i64) -> String {
    let mut text = String::new();
    ticks.write(&mut text, count);
    text
}

#[test]
fn every_day_of_four_centuries_follows_the_one_before() {
    let leap = |year: i64| (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    // 1 January 1800 is 62,091 days before 1970.
    let (mut year, mut month, mut day) = (1800, 1, 1);
    for count in -62_091..-62_091 + 146_097 {
        assert_eq!(written(Ticks::Days, count), format!("{year:04}-{month:02}-{day:02}"));
        let length = match month {
            4 | 6 | 9 | 11 => 30,
            2 if leap(year) => 29,
            2 => 28,
            _ => 31,
        };
        day += 1;
        if day > length {
            (month, day) = (month + 1, 1);
        }
        if month > 12 {
            (year, month) = (year + 1, 1);
        }
    }
    assert_eq!((year, month, day), (2200, 1, 1), "four centuries have 146,097 days");
}

#[test]
fn seconds_have_their_digits_and_their_zone() {
    let check = |digits, universal, count, expected: &str| {
        assert_eq!(written(Ticks::Seconds { digits, universal }, count), expected);
    };
    check(3, true, 0, "1970-01-01T00:00:00.000Z");
    check(3, false, 1, "1970-01-01T00:00:00.001");
    check(6, false, 86_399_999_999, "1970-01-01T23:59:59.999999");
    check(9, true, -1, "1969-12-31T23:59:59.999999999Z");
}

/// Log files are ordered by their times as text.
#[test]
fn text_sorts_as_time_does() {
    let times = [0, 999, 1_000, 951_782_399_999, 951_782_400_000, 1_794_820_351_000, 4_107_542_400_000];
    assert!(times.map(utc).is_sorted());
}
