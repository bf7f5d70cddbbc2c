//! Dates and times.

use rarely_output::{Ticks, UtcInstant, utc};

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

/// Expected seconds are those of Python's `datetime`, with `fromisocalendar` for weeks.
#[test]
fn every_form_of_a_date_is_the_same_time() {
    let same = [
        "2026-11-17T08:30:00Z",
        "2026-11-17 08:30",
        "2026-11-17t083000z",
        "20261117T0830Z",
        "2026-W47-2T08:30",
        "2026W472T08:30Z",
        "2026-321 08:30:00.000",
        "2026321T08:30",
        "2026-11-17T09:30:00+01:00",
        "2026-11-17 09:30:00 +0100",
        "2026-11-17T03:00-05:30",
        "2026-11-17T10:30+02",
    ];
    for text in same {
        let instant = UtcInstant { seconds: 1_794_904_200, nanoseconds: 0 };
        assert_eq!(UtcInstant::parse(text), Some(instant), "{text}");
    }
    let seconds = |text: &str| UtcInstant::parse(text).map(|instant| instant.seconds);
    assert_eq!(seconds("2026-11"), Some(1_793_491_200));
    assert_eq!(seconds("2026-W53-7"), Some(1_798_934_400), "the third of January 2027");
    assert_eq!(seconds("2024-366"), Some(1_735_603_200));
    assert_eq!(seconds("2020-W01-1"), Some(1_577_664_000), "the thirtieth of December 2019");
    assert_eq!(seconds("1969-12-31T23:59:59.75Z"), Some(-1));
    let parts = UtcInstant::parse("2026-11-17T08:30:00,123456789012Z").map(|instant| instant.nanoseconds);
    assert_eq!(parts, Some(123_456_789));
}

#[test]
fn what_is_no_time_is_none() {
    for text in [
        "",
        "soon",
        "2026",
        "2026-13",
        "2026-00-10",
        "2026-02-29",
        "2026-11-31",
        "2026-W00-1",
        "2026-W54-1",
        "2025-W53-1",
        "2026-W10-8",
        "2025-366",
        "2026-000",
        "2026-11-17T",
        "2026-11-17T25:00",
        "2026-11-17T08:60",
        "2026-11-17T08:30:00Zulu",
        "2026-11-17T08:30+",
        "2026-11-17T08.5",
        "2026/11/17",
        "17.11.2026",
        "2026-1-7",
        "2026-11-17Z",
    ] {
        assert_eq!(UtcInstant::parse(text), None, "{text:?}");
    }
}
