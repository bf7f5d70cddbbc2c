//! One number as it is written.

use rarely_policy::DecimalMark;

/// Signs and words of currencies, the longest first where one starts another.
const CURRENCIES: [&str; 31] = [
    "US$", "R$", "A$", "C$", "Kč", "zł", "kr.", "kr", "Fr.", "Rs.", "CHF", "EUR", "USD", "GBP", "JPY", "SEK", "NOK",
    "DKK", "PLN", "CZK", "€", "$", "£", "¥", "₹", "₽", "₩", "₺", "₪", "₴", "฿",
];

/// A number as it is written.
pub(super) struct Spelling<'a> {
    is_negative: bool,
    /// Digits and marks.
    body: &'a str,
    pub(super) marks: Marks,
    pub(super) is_percent: bool,
    pub(super) currency: Option<&'a str>,
}

/// What points and commas say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marks {
    /// There is none.
    None,
    /// This is the decimal mark.
    Decimal(DecimalMark),
    /// There is one, behind up to three digits and before three: it may stand before decimals or between thousands.
    Either(DecimalMark),
}

impl<'a> Spelling<'a> {
    /// Of a text, if it is a number in any format.
    pub(super) fn of(text: &'a str) -> Option<Self> {
        let (mut rest, mut is_negative, mut currency, mut is_percent) = (text.trim(), None, None, false);
        // A sign may stand before or behind a currency.
        for _ in 0..2 {
            if let Some(digits) = rest.strip_prefix(['-', '+', '\u{2212}']).filter(|_| is_negative.is_none()) {
                is_negative = Some(!rest.starts_with('+'));
                rest = digits.trim_start();
            }
            if currency.is_none() {
                (currency, rest) = without_currency(rest);
            }
        }
        if let Some(number) = rest.strip_suffix('%') {
            (is_percent, rest) = (true, number.trim_end());
        }
        let marks = marks(rest)?;
        Some(Self { is_negative: is_negative == Some(true), body: rest, marks, is_percent, currency })
    }

    /// The number, with this decimal mark; `None` if it cannot be the decimal mark.
    pub(super) fn value(&self, decimal: DecimalMark) -> Option<f64> {
        if matches!(self.marks, Marks::Decimal(mark) if mark != decimal) {
            return None;
        }
        let plain: String = self.body.chars().filter_map(|character| plain(character, decimal)).collect();
        let size: f64 = plain.parse().ok()?;
        let size = if self.is_percent { size / 100.0 } else { size };
        Some(if self.is_negative { -size } else { size }).filter(|size| size.is_finite())
    }
}

/// A character as Rust reads it; nothing between thousands.
fn plain(character: char, decimal: DecimalMark) -> Option<char> {
    match mark(character) {
        Some(mark) => (mark == decimal).then_some('.'),
        None => (!is_gap(character)).then_some(character),
    }
}

fn mark(character: char) -> Option<DecimalMark> {
    match character {
        '.' => Some(DecimalMark::Point),
        ',' => Some(DecimalMark::Comma),
        _ => None,
    }
}

fn character(mark: DecimalMark) -> char {
    match mark {
        DecimalMark::Point => '.',
        DecimalMark::Comma => ',',
    }
}

/// Blanks and apostrophes, which can stand only between thousands.
fn is_gap(character: char) -> bool {
    matches!(character, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}' | '\'' | '\u{2019}')
}

fn without_currency(text: &str) -> (Option<&str>, &str) {
    let is_digit = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_digit());
    if is_digit(text.bytes().next()) && is_digit(text.bytes().next_back()) {
        return (None, text);
    }
    for currency in CURRENCIES {
        if text.starts_with(currency) {
            let (currency, rest) = text.split_at(currency.len());
            return (Some(currency), rest.trim_start());
        }
        if let Some(number) = text.strip_suffix(currency) {
            return (Some(&text[number.len()..]), number.trim_end());
        }
    }
    (None, text)
}

/// What the marks of digits say; `None` if it is no number.
fn marks(body: &str) -> Option<Marks> {
    if let Some((digits, exponent)) = body.split_once(['e', 'E']) {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        // Whoever writes an exponent writes no groups of thousands.
        return match marks(digits)? {
            _ if !is_digits(exponent) || digits.contains(is_gap) => None,
            Marks::None => Some(Marks::None),
            Marks::Decimal(mark) | Marks::Either(mark) => Some(Marks::Decimal(mark)),
        };
    }
    let count = |mark: DecimalMark| body.matches(character(mark)).count();
    let (points, commas) = (count(DecimalMark::Point), count(DecimalMark::Comma));
    let last = body.chars().rev().find_map(mark);
    match (points, commas, last) {
        (0, 0, _) => is_grouped(body, is_gap).then_some(Marks::None),
        (1.., 1.., Some(last)) => {
            let (whole, places) = body.rsplit_once(character(last))?;
            let between = character(last.other());
            let is_number = is_grouped(whole, |found| found == between) && is_digits(places);
            is_number.then_some(Marks::Decimal(last))
        }
        (1, 0, Some(only)) | (0, 1, Some(only)) => with_one_mark(body, only),
        (_, _, Some(only)) => {
            let between = character(only);
            is_grouped(body, |found| found == between).then_some(Marks::Decimal(only.other()))
        }
        (_, _, None) => None,
    }
}

fn with_one_mark(body: &str, mark: DecimalMark) -> Option<Marks> {
    let (whole, places) = body.split_once(character(mark))?;
    if !places.bytes().all(|byte| byte.is_ascii_digit()) || whole.is_empty() && places.is_empty() {
        return None;
    }
    if !(whole.is_empty() || is_grouped(whole, is_gap)) {
        return None;
    }
    let may_group = (1..=3).contains(&whole.len()) && !whole.starts_with('0') && places.len() == 3;
    Some(if may_group { Marks::Either(mark) } else { Marks::Decimal(mark) })
}

/// Whether a text is digits only, or one to three digits and then groups of three, with one and the same character between them.
fn is_grouped(text: &str, is_between: impl Fn(char) -> bool) -> bool {
    let Some(between) = text.chars().find(|found| is_between(*found)) else { return is_digits(text) };
    let mut groups = text.split(between);
    let is_first = |group: &str| (1..=3).contains(&group.len()) && is_digits(group);
    groups.next().is_some_and(is_first) && groups.all(|group| group.len() == 3 && is_digits(group))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
