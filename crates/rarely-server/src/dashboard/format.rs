//! Times, durations and numbers for readers.

use maud::{Markup, html};
use rarely_output::utc;
use rarely_review::findings::numbers;
pub(super) use rarely_review::findings::numbers::{count, measured};

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// A time in UTC: `2026-11-16 09:12`, with seconds in the tooltip.
pub(super) fn time(time_ms: u64) -> Markup {
    let exact = exact(time_ms);
    html! { time datetime=(exact) title=(exact) { (minute(time_ms)) } }
}

/// `2026-11-16 09:12`.
pub(super) fn minute(time_ms: u64) -> String {
    utc(time_ms).chars().take(16).collect::<String>().replace('T', " ")
}

/// `2026-11-16T09:12:31Z`.
pub(super) fn exact(time_ms: u64) -> String {
    utc(time_ms).chars().take(19).chain(['Z']).collect()
}

/// The duration between two times: `3 days`, `1 hour`, `less than a minute`.
pub(super) fn age(from_ms: u64, to_ms: u64) -> String {
    let length = to_ms.saturating_sub(from_ms);
    let sizes = [(365 * DAY, "year"), (DAY, "day"), (HOUR, "hour"), (MINUTE, "minute")];
    let fits = sizes.into_iter().find(|(size, name)| length >= if *name == "year" { 2 * size } else { *size });
    match fits {
        Some((size, name)) => plural(length / size, name),
        None => "less than a minute".to_owned(),
    }
}

/// `1 outcome`, `12 outcomes`.
pub(super) fn plural(number: u64, name: &str) -> String {
    format!("{}\u{a0}{name}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A share as findings write it, in one piece: `12.3 %`.
pub(super) fn percent(share: f64) -> String {
    numbers::percent(share).replace(' ', "\u{a0}")
}

/// A share of a whole; a dash if the whole is 0.
pub(super) fn share(part: u64, whole: u64) -> String {
    if whole == 0 { "–".to_owned() } else { percent(part as f64 / whole as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(exact(0), "1970-01-01T00:00:00Z");
        assert_eq!(minute(951_782_399_999), "2000-02-28 23:59");
        assert_eq!(minute(951_782_400_000), "2000-02-29 00:00");
        assert_eq!(exact(1_794_820_351_000), "2026-11-16T09:12:31Z");
        assert_eq!(minute(4_107_542_400_000), "2100-03-01 00:00", "2100 is not a leap year");
        assert!(time(0).into_string().starts_with("<time datetime=\"1970-01-01T00:00:00Z\""));
    }

    #[test]
    fn ages() {
        let ages = [(0, "less than a minute"), (MINUTE, "1\u{a0}minute"), (HOUR - 1, "59\u{a0}minutes")];
        let longer = [(25 * HOUR, "1\u{a0}day"), (729 * DAY, "729\u{a0}days"), (730 * DAY, "2\u{a0}years")];
        for (length, words) in ages.into_iter().chain(longer) {
            assert_eq!(age(5, 5 + length), words);
        }
        assert_eq!(age(10, 5), "less than a minute", "a clock that went back");
    }

    #[test]
    fn numbers() {
        assert_eq!(plural(1, "outcome"), "1\u{a0}outcome");
        assert_eq!(plural(1_234_567, "outcome"), "1,234,567\u{a0}outcomes");
        assert_eq!(percent(0.000_01), "<\u{a0}0.1\u{a0}%");
        assert_eq!(percent(0.123_4), "12.3\u{a0}%");
        assert_eq!(share(0, 0), "–");
    }
}
