//! The cuts of a rule as a picture of characters, for a terminal.

use rarely_core::Thresholds;
use rarely_review::findings::BoundaryFinding;
use rarely_review::findings::numbers::setting;

/// The widest axis.
const MOST_COLUMNS: usize = 60;
/// The narrowest that shows anything.
const FEWEST_COLUMNS: usize = 20;
/// How far the axis goes beyond the outermost number, as a share of what lies between.
const MARGIN: f64 = 0.25;

/// A line for every cut of the rule, an axis and what the signs mean, in at most `width` columns; nothing for a rule without cuts, or where there is no room.
///
/// ```text
/// watch / treat  ------------=========|------------
///                117                           146
/// | the cut in force   = cuts that the data allow
/// ```
pub(crate) fn cut_picture(boundaries: &[BoundaryFinding], width: u16) -> Vec<String> {
    let cuts: Vec<(String, f64, &Thresholds)> = boundaries
        .iter()
        .filter_map(|pair| Some((pair.options.join(" / "), pair.threshold?, pair.interval.as_ref()?)))
        .collect();
    let label = cuts.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0);
    let columns = usize::from(width).saturating_sub(label + 4).min(MOST_COLUMNS);
    let numbers = || cuts.iter().flat_map(|(_, cut, allowed)| ends(allowed).into_iter().chain([*cut]));
    let (low, high) = (numbers().fold(f64::INFINITY, f64::min), numbers().fold(f64::NEG_INFINITY, f64::max));
    if cuts.is_empty() || columns < FEWEST_COLUMNS || !(low <= high) {
        return Vec::new();
    }
    let margin = if high > low { MARGIN * (high - low) } else { low.abs().max(1.0) };
    let axis = CutAxis { low: low - margin, high: high + margin, columns };
    let mut lines: Vec<String> =
        cuts.iter().map(|(name, cut, allowed)| format!("{name:<label$}  {}", axis.line(*cut, allowed))).collect();
    let (first, last) = (setting(axis.rounded(axis.low)), setting(axis.rounded(axis.high)));
    lines.push(format!("{:<label$}  {first}{last:>rest$}", "", rest = columns - first.chars().count()));
    lines.push("| the cut in force   = cuts that the data allow".to_owned());
    lines
}

/// The numbers at which what is allowed ends.
fn ends(allowed: &Thresholds) -> Vec<f64> {
    match *allowed {
        Thresholds::Between { low, high } | Thresholds::Outside { low, high } => vec![low, high],
        Thresholds::AtMost { high } => vec![high],
        Thresholds::AtLeast { low } => vec![low],
        Thresholds::Everything | Thresholds::Nothing => Vec::new(),
    }
}

/// Numbers from left to right.
struct CutAxis {
    low: f64,
    high: f64,
    columns: usize,
}

impl CutAxis {
    /// The number at the middle of a column.
    fn at(&self, column: usize) -> f64 {
        self.low + (self.high - self.low) * (column as f64 + 0.5) / self.columns as f64
    }

    /// The column that is nearest to a number.
    fn nearest(&self, number: f64) -> usize {
        let distance = |column: &usize| (self.at(*column) - number).abs();
        (0..self.columns).min_by(|one, other| distance(one).total_cmp(&distance(other))).unwrap_or(0)
    }

    /// A number with the digits that a column can tell.
    fn rounded(&self, number: f64) -> f64 {
        let step = 10_f64.powf(((self.high - self.low) / self.columns as f64).log10().floor());
        // Divided, not multiplied: a tenth of a whole number is then printed with one digit.
        if step < 1.0 { (number / step).round() / (1.0 / step).round() } else { (number / step).round() * step }
    }

    fn line(&self, cut: f64, allowed: &Thresholds) -> String {
        let in_force = self.nearest(cut);
        // An interval that is narrower than a column is shown all the same.
        let narrow: Vec<usize> = ends(allowed).into_iter().map(|end| self.nearest(end)).collect();
        let sign = |column: usize| match column {
            _ if column == in_force => '|',
            _ if allowed.contains(self.at(column)) || narrow.contains(&column) => '=',
            _ => '-',
        };
        (0..self.columns).map(sign).collect()
    }
}
