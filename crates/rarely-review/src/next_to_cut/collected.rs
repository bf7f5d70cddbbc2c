//! The rows of a log along the running variable, kept while it is read.

use serde::{Deserialize, Serialize};

use crate::bottom_k::BottomK;
use crate::jump::Cut;

/// Rows that are kept; of a longer log, a uniform sample of this size.
pub const ROWS_KEPT: usize = 200_000;
/// A value nearer to a cut than this share of the rows' span is at the cut: it was scaled, and rounding must not decide its side.
const ROUNDING: f64 = 1e-10;

/// The rows of a log: running variable, option and outcome of each. A saved state does not hold them, unless it is asked to.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct CutRows {
    kept: BottomK,
    /// By slot.
    rows: Vec<Row>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Row {
    z: f64,
    option: usize,
    outcome: f64,
}

/// The rows that belong to one cut: those between the cut before it and the one after.
#[derive(Debug, Clone, PartialEq)]
pub struct NearCut {
    /// The running variable of the rows that got the option that the rule gives on their side.
    pub x: Vec<f64>,
    /// Their outcomes.
    pub y: Vec<f64>,
    /// The running variable of every row, beyond other cuts as well and whatever its option.
    pub everybody: Vec<f64>,
    /// The cut.
    cut: f64,
    /// The running variable of the rows that got another option.
    others: Vec<f64>,
}

impl CutRows {
    /// Before any row.
    pub fn new() -> Self {
        Self { kept: BottomK::new(ROWS_KEPT), rows: Vec::new() }
    }

    /// Offers a row with a priority that looks random: of more than [`ROWS_KEPT`] rows, those with the smallest priorities are kept.
    #[inline]
    pub fn offer(&mut self, priority: u64, z: f64, option: usize, outcome: f64) {
        self.insert(priority, Row { z, option, outcome });
    }

    /// Adds the rows of another log.
    pub fn merge(&mut self, other: &Self) {
        for (priority, slot) in other.kept.kept() {
            self.insert(priority, other.rows[slot]);
        }
    }

    /// Rows that are kept.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows of a cut, given by its index among the rule's cuts.
    ///
    /// # Panics
    /// If there is no such cut.
    pub fn near(&self, cuts: &[Cut], index: usize) -> NearCut {
        let cut = cuts[index];
        let from = if index == 0 { f64::NEG_INFINITY } else { cuts[index - 1].at };
        let to = cuts.get(index + 1).map_or(f64::INFINITY, |next| next.at);
        let rows = self.in_order();
        let everybody = values(&rows, cuts);
        let (mut x, mut y, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for (row, &z) in rows.iter().zip(&everybody).filter(|(_, z)| from <= **z && **z < to) {
            let given = if z < cut.at { cut.lower } else { cut.upper };
            if row.option == given {
                x.push(z);
                y.push(row.outcome);
            } else {
                others.push(z);
            }
        }
        NearCut { x, y, everybody, cut: cut.at, others }
    }

    fn stored(&self) -> Stored {
        Stored(self.kept.in_order().into_iter().map(|(priority, slot)| (priority, self.rows[slot])).collect())
    }

    /// The rows in an order that does not depend on how they came.
    fn in_order(&self) -> Vec<Row> {
        self.kept.in_order().into_iter().map(|(_, slot)| self.rows[slot]).collect()
    }

    fn insert(&mut self, priority: u64, row: Row) {
        let Self { kept, rows } = self;
        if let Some(slot) = kept.place(priority, |from, to| rows[to] = rows[from]) {
            // What is behind the slot was dropped.
            rows.truncate(slot);
            rows.push(row);
        }
    }
}

impl Default for CutRows {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for CutRows {
    fn eq(&self, other: &Self) -> bool {
        self.stored() == other.stored()
    }
}

/// The stored form, in one order: priorities and rows.
#[derive(PartialEq, Serialize, Deserialize)]
struct Stored(Vec<(u64, Row)>);

impl From<CutRows> for Stored {
    fn from(rows: CutRows) -> Self {
        rows.stored()
    }
}

impl TryFrom<Stored> for CutRows {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Self, &'static str> {
        let Stored(rows) = stored;
        if rows.len() > ROWS_KEPT || rows.iter().any(|(_, row)| !(row.z.is_finite() && row.outcome.is_finite())) {
            return Err("the rows next to the cuts are damaged");
        }
        let kept = BottomK::of(ROWS_KEPT, rows.iter().map(|&(priority, _)| priority));
        Ok(Self { kept, rows: rows.into_iter().map(|(_, row)| row).collect() })
    }
}

impl NearCut {
    /// The share of the rows within a bandwidth that did not get the option that the rule gives them. 0 without rows.
    pub fn not_followed(&self, bandwidth: f64) -> f64 {
        let within = |values: &[f64]| values.iter().filter(|x| (*x - self.cut).abs() < bandwidth).count() as f64;
        let (others, followed) = (within(&self.others), within(&self.x));
        if others > 0.0 { others / (others + followed) } else { 0.0 }
    }
}

/// The running variable of every row, exactly a cut where it is one but for rounding.
fn values(rows: &[Row], cuts: &[Cut]) -> Vec<f64> {
    let all = rows.iter().map(|row| row.z).chain(cuts.iter().map(|cut| cut.at));
    let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), z| (low.min(z), high.max(z)));
    let near = ROUNDING * (high - low);
    let value = |row: &Row| cuts.iter().find(|cut| (row.z - cut.at).abs() <= near).map_or(row.z, |cut| cut.at);
    rows.iter().map(value).collect()
}
