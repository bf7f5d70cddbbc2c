//! From data to a share of an axis: ranges, ticks and their labels.

use rarely_error::scientific;

use crate::figure::{Axis, Scale};
use crate::number::{DIGITS, grouped};

/// The numbers along one axis, gathered from the marks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    low: f64,
    high: f64,
    /// The least number above 0.
    positive: f64,
    /// The same without the ends of bands and whiskers, which may be all but 0.
    positive_core: f64,
    /// Whether 0 must be on a linear axis.
    from_zero: bool,
    /// Whether marks need room beyond the outermost numbers.
    pub(crate) padded: bool,
}

impl Default for Extent {
    fn default() -> Self {
        let (low, high) = (f64::INFINITY, f64::NEG_INFINITY);
        Self { low, high, positive: low, positive_core: low, from_zero: false, padded: false }
    }
}

impl Extent {
    /// A number that must be seen.
    pub(crate) fn add(&mut self, value: f64) {
        if value.is_finite() && value > 0.0 {
            self.positive_core = self.positive_core.min(value);
        }
        self.add_end(value);
    }

    /// The end of a band or whisker.
    pub(crate) fn add_end(&mut self, value: f64) {
        if value.is_finite() {
            // Beyond this the length of an axis is not a number.
            let value = value.clamp(-1e300, 1e300);
            self.low = self.low.min(value);
            self.high = self.high.max(value);
            if value > 0.0 {
                self.positive = self.positive.min(value);
            }
        }
    }

    /// The foot of a bar.
    pub(crate) fn add_zero(&mut self) {
        self.from_zero = true;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.low > self.high
    }

    fn linear(&self) -> (f64, f64) {
        if self.is_empty() {
            return (0.0, 1.0);
        }
        let (mut low, mut high) = (self.low, self.high);
        if low >= 0.0 || self.from_zero {
            low = low.min(0.0);
        }
        if high <= 0.0 {
            high = 0.0;
        }
        if low == high {
            return (low, high + 1.0);
        }
        let room = if self.padded { 0.04 * (high - low) } else { 0.0 };
        (if low < 0.0 { low - room } else { low }, if high > 0.0 { high + room } else { high })
    }

    fn log(&self) -> (f64, f64) {
        if !self.positive.is_finite() {
            return (0.1, 10.0);
        }
        // A whisker that nearly reaches 0 may add one decade, not ten.
        let core = if self.positive_core.is_finite() { self.positive_core } else { self.positive };
        let low = within(self.positive.max(core / 10.0));
        let high = within(self.high.max(low));
        if high / low < 1.01 {
            return (low / 2.0, high * 2.0);
        }
        let room = if self.padded { (0.05 * (high.ln() - low.ln())).exp() } else { 1.0 };
        (within(low / room), within(high * room))
    }
}

/// The ends of a logarithmic axis stay where numbers have all their digits.
fn within(value: f64) -> f64 {
    value.clamp(1e-300, 1e300)
}

/// A place on an axis with a label.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) at: f64,
    pub(crate) label: String,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Linear,
    Log,
    Names { count: usize, downwards: bool },
}

/// An axis with its ends and ticks.
#[derive(Debug, Clone)]
pub(crate) struct Scaled {
    kind: Kind,
    low: f64,
    high: f64,
    pub(crate) ticks: Vec<Tick>,
    pub(crate) minor: Vec<f64>,
}

/// Which way an axis runs: names on a vertical one are read from the top, and its labels need less room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Across,
    Up,
}

/// The ticks that a vertical axis from `low` to `high` has on `length` pixels, with their labels.
pub fn vertical_ticks((low, high): (f64, f64), length: f64) -> Vec<(f64, String)> {
    let axis = Axis::linear("").between(low, high);
    let scaled = Scaled::new(&axis, None, &Extent::default(), Way::Up, length);
    scaled.ticks.into_iter().map(|tick| (tick.at, tick.label)).collect()
}

impl Scaled {
    /// Chooses ends and ticks for an axis that is `length` pixels long.
    pub(crate) fn new(axis: &Axis, names: Option<&[String]>, extent: &Extent, way: Way, length: f64) -> Self {
        if let Some(names) = names {
            let ticks =
                names.iter().enumerate().map(|(at, name)| Tick { at: at as f64, label: name.clone() }).collect();
            let kind = Kind::Names { count: names.len().max(1), downwards: way == Way::Up };
            return Self { kind, low: 0.0, high: 1.0, ticks, minor: Vec::new() };
        }
        let usable = |&(low, high): &(f64, f64)| {
            low < high && high - low < 1e305 && (axis.scale == Scale::Linear || (low >= 1e-300 && high <= 1e300))
        };
        let chosen = if axis.scale == Scale::Log { extent.log() } else { extent.linear() };
        let (low, high) = axis.range.filter(usable).unwrap_or(chosen);
        let kind = if axis.scale == Scale::Log { Kind::Log } else { Kind::Linear };
        let mut scaled = Self { kind, low, high, ticks: Vec::new(), minor: Vec::new() };
        scaled.choose_ticks(axis, way, length);
        scaled
    }

    fn choose_ticks(&mut self, axis: &Axis, way: Way, length: f64) {
        let wanted = length / if way == Way::Up { 42.0 } else { 62.0 };
        if let Some(ticks) = &axis.ticks {
            let inside = ticks.iter().filter(|(at, _)| self.contains(*at));
            self.ticks = inside.map(|(at, label)| Tick { at: *at, label: label.clone() }).collect();
        } else if self.kind == Kind::Log {
            (self.ticks, self.minor) = log_ticks(self.low, self.high, wanted);
        } else {
            self.ticks = linear_ticks(self.low, self.high, wanted);
        }
    }

    /// Widens the axis at its upper end so that `room` of its `length` pixels stay free there.
    pub(crate) fn make_room(&mut self, axis: &Axis, way: Way, length: f64, (below, above): (f64, f64)) {
        let free = (length - below - above).max(0.3 * length);
        let factor = length / free;
        if axis.range.is_some() || (below <= 0.0 && above <= 0.0) {
            return;
        }
        let (low_share, high_share) = (below / length * factor, above / length * factor);
        match self.kind {
            Kind::Linear => {
                let span = self.high - self.low;
                self.low -= low_share * span;
                self.high += high_share * span;
            }
            Kind::Log => {
                let length = self.high.ln() - self.low.ln();
                self.high = within(self.high * (high_share * length).exp());
            }
            Kind::Names { .. } => return,
        }
        self.choose_ticks(axis, way, length);
    }

    /// Makes the axis cover `span` around its middle.
    pub(crate) fn widen_to(&mut self, axis: &Axis, way: Way, length: f64, span: f64) {
        if self.kind == Kind::Linear {
            let middle = 0.5 * (self.low + self.high);
            (self.low, self.high) = (middle - 0.5 * span, middle + 0.5 * span);
            self.choose_ticks(axis, way, length);
        }
    }

    pub(crate) fn span(&self) -> f64 {
        self.high - self.low
    }

    /// Pixels between two names, if the axis has names.
    pub(crate) fn slot(&self, length: f64) -> Option<f64> {
        match self.kind {
            Kind::Names { count, .. } => Some(length / count as f64),
            _ => None,
        }
    }

    /// Where along the axis a number is: 0 at its low end, 1 at its high end. `None` if it is not finite.
    pub(crate) fn share(&self, value: f64) -> Option<f64> {
        if !value.is_finite() {
            return None;
        }
        let share = match self.kind {
            Kind::Linear => (value - self.low) / self.span(),
            Kind::Log if value <= 0.0 => 0.0,
            Kind::Log => (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln()),
            Kind::Names { count, downwards } => {
                let share = (value + 0.5) / count as f64;
                if downwards { 1.0 - share } else { share }
            }
        };
        share.is_finite().then(|| share.clamp(-1e4, 1e4))
    }

    /// The foot of bars: 0, or the low end.
    pub(crate) fn foot(&self) -> f64 {
        match self.kind {
            Kind::Linear => (-self.low / self.span()).clamp(0.0, 1.0),
            _ => 0.0,
        }
    }

    pub(crate) fn contains(&self, value: f64) -> bool {
        self.share(value).is_some_and(|share| (-1e-9..=1.0 + 1e-9).contains(&share))
    }
}

/// A power of ten.
fn power(exponent: i32) -> f64 {
    // Parsed, since `powi` differs in the last bit between machines.
    format!("1e{exponent}").parse().unwrap_or(f64::MAX)
}

/// The exponent of the largest power of ten that is not above a positive number.
#[allow(clippy::cast_possible_truncation)]
fn exponent(value: f64) -> i32 {
    // An exponent of a finite number fits.
    let guess = value.log10().floor() as i32;
    if power(guess + 1) <= value { guess + 1 } else { guess }
}

/// The least of 1, 2, 5 times a power of ten that is at least `step`.
fn nice_step(step: f64) -> f64 {
    let base = power(exponent(step));
    [1.0, 2.0, 5.0].into_iter().map(|factor| factor * base).find(|&nice| nice >= step * 0.999).unwrap_or(10.0 * base)
}

fn linear_ticks(low: f64, high: f64, wanted: f64) -> Vec<Tick> {
    let span = high - low;
    if !(span.is_finite() && span > 1e-290) {
        return Vec::new();
    }
    let step = nice_step(span / wanted.max(2.0));
    let first = (low / step - 1e-6).ceil();
    let places = (0..50).map(|at| (first + f64::from(at)) * step).take_while(|&at| at <= high + 1e-6 * step);
    let places: Vec<f64> = places.map(|at| if at.abs() < 1e-9 * step { 0.0 } else { at }).collect();
    let largest = places.iter().fold(0.0_f64, |most, at| most.max(at.abs()));
    let label = |at: f64| -> String {
        if at == 0.0 {
            "0".to_owned()
        } else if largest >= 1e6 || step < 1e-5 {
            scientific(at, DIGITS)
        } else {
            grouped(at, usize::try_from(-exponent(step)).unwrap_or(0))
        }
    };
    places.into_iter().map(|at| Tick { at, label: label(at) }).collect()
}

/// Labelled ticks and small ones.
fn log_ticks(low: f64, high: f64, wanted: f64) -> (Vec<Tick>, Vec<f64>) {
    let (first, last) = (exponent(low), exponent(high));
    let inside = |at: &f64| *at >= low * (1.0 - 1e-9) && *at <= high * (1.0 + 1e-9);
    let multiples = |factors: &[f64]| -> Vec<f64> {
        let all = (first..=last).flat_map(|decade| factors.iter().map(move |factor| factor * power(decade)));
        all.filter(inside).collect()
    };
    let minor = if last - first <= 8 { multiples(&[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]) } else { Vec::new() };
    let tick = |at: f64| Tick { at, label: log_label(at) };
    let most = (wanted * 1.25).max(3.0);
    let decades = multiples(&[1.0]);
    if decades.len() >= 3 {
        let mut stride = 1;
        while decades.len() as f64 / f64::from(stride) > most {
            stride += 1;
        }
        let chosen = (first..=last).filter(|decade| decade % stride == 0).map(power).filter(inside);
        return (chosen.map(tick).collect(), minor);
    }
    let candidates: [&[f64]; 4] =
        [&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], &[1.0, 2.0, 3.0, 5.0], &[1.0, 2.0, 5.0], &[1.0, 3.0]];
    for factors in candidates {
        let chosen = multiples(factors);
        if chosen.len() >= 3 && chosen.len() as f64 <= most {
            return (chosen.into_iter().map(tick).collect(), minor);
        }
    }
    if high / low > 3.0 && !decades.is_empty() {
        return (decades.into_iter().map(tick).collect(), minor);
    }
    (linear_ticks(low, high, wanted.clamp(5.0, 6.0)), Vec::new())
}

fn log_label(at: f64) -> String {
    if (0.99e-4..1.01e5).contains(&at) {
        grouped(at, usize::try_from(-exponent(at * 1.000_001)).unwrap_or(0))
    } else {
        scientific(at, DIGITS)
    }
}
