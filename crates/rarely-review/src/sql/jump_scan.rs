//! The reading that needs to know nothing beforehand: the ends of outcomes and of time, the rows that are not used, and the sums beside the
//! rule's cuts, [`crate::Jumps`] in SQL.

use super::checked_rows::{Part, select};
use super::first_scan::{FirstScan, LOST};
use super::template::Branch;
use crate::fixed_point::ONE;
use crate::jump::{BINS, EDGE};

/// What every part hands on.
const ROW: [&str; 5] = ["cut", "fault", "used_arm", "reward", "row_second"];
/// The ends of a group, and its rows.
const ENDS: [&str; 5] = [
    "count(*) AS group_rows",
    "min(reward) AS group_lowest",
    "max(reward) AS group_highest",
    "min(row_second) AS group_first",
    "max(row_second) AS group_last",
];

impl FirstScan<'_> {
    /// The parts up to `surveyed`, which has a row for each fault, cut, option and bin.
    pub(super) fn survey_parts(&self) -> Vec<Part> {
        if !self.has_cuts() {
            let columns = ["fault", "used_arm", "0 AS cut", "0 AS bin_place"].into_iter().chain(ENDS);
            let mut columns: Vec<String> = columns.map(str::to_owned).chain([self.group_count()]).collect();
            columns.extend(self.gap_sums());
            let text = format!("{}\n  FROM whole\n  GROUP BY fault, used_arm", select(&columns));
            return vec![Part::new("surveyed", "The rows of each option, and those with each fault.", text).stored()];
        }
        let mut parts = Vec::new();
        if !self.has_one_cut() {
            parts.push(Part::new("cuts", "The rule's cuts along its running variable z.", self.cuts()));
        }
        parts.extend([
            Part::new(
                "beside",
                "The signed distance of every row from every cut, as a share of the span of z; NULL outside the span.",
                self.beside(),
            ),
            Part::new(
                "sided",
                "The side of a row, the option that the rule gives there, and the distance in bins.",
                self.sided(),
            ),
            Part::new("binned", "The bin of a row. Bins count from the cut outward.", self.binned()),
            Part::new(
                "inside",
                "How far into its bin a row is, as a whole number, where it got the option that the rule gives.",
                self.inside(),
            ),
            Part::new("squared", "Its square, and that of the outcome, rounded back.", self.squared()),
            Part::new("cubed", "Its third power.", self.cubed()),
            Part::new("powered", "Its powers up to the sixth (p), and the outcome and its square (s), in the type whose products add exactly.", self.powered()),
            Part::new(
                "surveyed",
                "The sums of each option in each bin of each cut; the rows with each fault.",
                self.surveyed(),
            )
            .stored(),
        ]);
        parts
    }

    fn has_one_cut(&self) -> bool {
        self.jumps().is_some_and(|jumps| jumps.cuts().len() == 1)
    }

    fn group_count(&self) -> String {
        format!("{} AS numbers", self.dialect().text_of("count(*)"))
    }

    /// Each cut with its columns, as they are selected.
    fn cut_columns(&self) -> Vec<[String; 6]> {
        let sql = self.dialect();
        let Some(jumps) = self.jumps() else { return Vec::new() };
        let columns = |(at, cut): (usize, &crate::Cut)| {
            let (below, above) = jumps.bins_beside(cut.at);
            [
                format!("{at} AS cut"),
                format!("{} AS cut_at", sql.double(cut.at)),
                format!("{} AS lower_arm", cut.lower),
                format!("{} AS upper_arm", cut.upper),
                format!("{below} AS bins_below"),
                format!("{above} AS bins_above"),
            ]
        };
        jumps.cuts().enumerate().map(columns).collect()
    }

    fn cuts(&self) -> String {
        let rows = self.cut_columns().into_iter().map(|columns| format!("SELECT {}", columns.join(", ")));
        rows.collect::<Vec<_>>().join("\n  UNION ALL ")
    }

    fn beside(&self) -> String {
        let sql = self.dialect();
        let (low, high) = self.jumps().map_or((0.0, 1.0), crate::Jumps::span_ends);
        let share = sql.double(1.0 / (high - low));
        let (low, high) = (sql.double(low), sql.double(high));
        // A join with a single row costs more than its numbers.
        let one = self.cut_columns().into_iter().next().filter(|_| self.has_one_cut());
        let (cut_at, columns) = match &one {
            Some(columns) => (columns[1].trim_end_matches(" AS cut_at").to_owned(), columns.to_vec()),
            None => (
                "cut_at".to_owned(),
                ["cut", "lower_arm", "upper_arm", "bins_below", "bins_above"].map(str::to_owned).into(),
            ),
        };
        let mut lines: Vec<String> = columns.into_iter().filter(|column| !column.ends_with(" AS cut_at")).collect();
        lines.extend(ROW[1..].iter().chain(&["steps"]).map(|&column| column.to_owned()));
        lines.extend(self.gap_columns());
        lines.push(format!(
            "CASE WHEN fault = 0 AND z >= {low} AND z <= {high} THEN (z - {cut_at}) * {share} END AS signed_distance"
        ));
        let from = if one.is_some() { "whole" } else { "whole CROSS JOIN cuts\n  WHERE fault = 0 OR cut = 0" };
        format!("{}\n  FROM {from}", select(&lines))
    }

    fn sided(&self) -> String {
        let bins = self.dialect().double(BINS);
        let by_side = |below: &str, above: &str| format!("CASE WHEN signed_distance < 0 THEN {below} ELSE {above} END");
        let lines = [
            "signed_distance".to_owned(),
            format!("{} AS given_arm", by_side("lower_arm", "upper_arm")),
            format!("{} - 1 AS last_bin", by_side("bins_below", "bins_above")),
            format!("abs(signed_distance) * {bins} AS bins_away"),
        ];
        self.with_row(&["steps"], lines, "beside", "")
    }

    fn binned(&self) -> String {
        let sql = self.dialect();
        let bin = sql.floor(&format!("bins_away + {}", sql.double(EDGE)));
        let bin = format!("CASE WHEN {bin} < last_bin THEN {bin} WHEN bins_away IS NOT NULL THEN last_bin END AS bin");
        self.with_row(&["given_arm", "steps", "signed_distance", "bins_away"], [bin], "sided", "")
    }

    fn inside(&self) -> String {
        let sql = self.dialect();
        let rest = format!("bins_away - {}", sql.as_double("bin"));
        let (zero, one) = (sql.double(0.0), sql.double(1.0));
        let within = format!("CASE WHEN {rest} < {zero} THEN {zero} WHEN {rest} > {one} THEN {one} ELSE {rest} END");
        let whole = self.rounded(&format!("{within} * {}", sql.double(ONE as f64)));
        let followed = "used_arm = given_arm AND bin IS NOT NULL";
        let lines = [
            "CASE WHEN signed_distance < 0 THEN -1 - bin ELSE bin END AS bin_place".to_owned(),
            format!("CASE WHEN {followed} THEN {whole} END AS w_1"),
            format!("CASE WHEN {followed} THEN steps END AS y_1"),
        ];
        self.with_row(&[], lines, "binned", sql.fence())
    }

    fn squared(&self) -> String {
        let lines = [format!("{} AS w_2", self.times("w_1", "w_1")), format!("{} AS y_2", self.times("y_1", "y_1"))];
        self.with_row(&["bin_place", "w_1", "y_1"], lines, "inside", self.dialect().fence())
    }

    fn cubed(&self) -> String {
        let cube = format!("{} AS w_3", self.times("w_2", "w_1"));
        self.with_row(&["bin_place", "w_1", "y_1", "w_2", "y_2"], [cube], "squared", self.dialect().fence())
    }

    fn powered(&self) -> String {
        let sql = self.dialect();
        // Under new names: some engines take a name for that of the new column.
        let powers = [
            ("p_1", "w_1".to_owned()),
            ("p_2", "w_2".to_owned()),
            ("p_3", "w_3".to_owned()),
            ("p_4", self.times("w_2", "w_2")),
            ("p_5", self.times("w_2", "w_3")),
            ("p_6", self.times("w_3", "w_3")),
            ("s_1", "y_1".to_owned()),
            ("s_2", "y_2".to_owned()),
        ];
        let lines = powers.map(|(name, value)| format!("{} AS {name}", sql.whole(&value)));
        self.with_row(&["bin_place"], lines, "cubed", sql.fence())
    }

    /// Rows, then the sums of `half.rs`: those with the power 0 are sent without their factor 2²⁶.
    fn surveyed(&self) -> String {
        let sql = self.dialect();
        let mut numbers = vec![sql.text_of("count(*)")];
        numbers.extend((1..=6).map(|power| sql.text_of(&format!("sum(p_{power})"))));
        numbers.push(sql.text_of("sum(s_1)"));
        numbers.extend((1..=5).map(|power| sql.wide_sum(&format!("p_{power} * s_1"))));
        numbers.push(sql.text_of("sum(s_2)"));
        numbers.extend((1..=4).map(|power| sql.wide_sum(&format!("p_{power} * s_2"))));
        let mut lines: Vec<String> =
            ["fault", "cut", "used_arm", "bin_place"].into_iter().chain(ENDS).map(str::to_owned).collect();
        // Only the option that the rule gives has powers.
        lines.push(format!(
            "CASE WHEN count(p_1) = 0 THEN {} ELSE {} END AS numbers",
            numbers[0],
            sql.joined(&numbers)
        ));
        lines.extend(self.gap_sums());
        format!("{}\n  FROM powered\n  GROUP BY fault, cut, used_arm, bin_place", select(&lines))
    }

    /// What was surveyed, as rows of the result.
    pub(super) fn survey(&self) -> Branch {
        let (comment, condition) = if self.has_cuts() {
            let comment = "The rows of each option in each bin of each cut (part), and the sums of powers of those with the option that the rule \
                           gives: bins below a cut are −1, −2, … outward. Of rows that are not used, how many there are with each fault.";
            (comment, "fault <> 0 OR bin_place IS NOT NULL")
        } else {
            ("Of rows that are not used, how many there are with each fault.", "fault <> 0")
        };
        Branch {
            comment,
            kind: "CASE WHEN fault = 0 THEN 'jump' ELSE 'rejected' END".to_owned(),
            option: "coalesce(used_arm, 0)".to_owned(),
            part: "cut".to_owned(),
            position: "CASE WHEN fault = 0 THEN bin_place ELSE fault END".to_owned(),
            numbers: "numbers".to_owned(),
            from: format!("surveyed\nWHERE {condition}"),
        }
    }

    /// How many rows of a group lack what, and the outcomes of those that are dropped.
    fn gap_sums(&self) -> Option<String> {
        let sql = self.dialect();
        let columns = self.gap_columns();
        let (_, gaps) = columns.split_last()?;
        let mut numbers = vec![sql.text_of("count(*)")];
        numbers.extend(gaps.iter().map(|gap| sql.text_of(&format!("sum({gap})"))));
        numbers.extend([
            sql.text_of(&format!("count({LOST})")),
            sql.text_of(&format!("coalesce(sum({LOST}), 0)")),
            sql.wide_sum(&format!("coalesce({LOST} * {LOST}, 0)")),
        ]);
        Some(format!("{} AS gaps", sql.joined(&numbers)))
    }

    /// What rows lack, as rows of the result.
    pub(super) fn missing(&self) -> Option<Branch> {
        let options = self.document().options().len();
        self.has_gaps().then(|| Branch {
            comment: "What rows lack, by option (the last number is that of rows without one) and fault: the rows, those that lack each column, and of those that \
                      are dropped how many have an outcome, its sum and that of its square.",
            kind: "'missing'".to_owned(),
            option: format!("coalesce(used_arm, {options})"),
            part: "0".to_owned(),
            position: "fault".to_owned(),
            numbers: "gaps".to_owned(),
            from: format!("surveyed\nWHERE cut = 0 AND (fault = 0 OR {})", self.is_dropped()),
        })
    }

    /// A part with the columns of every row, others that it hands on, and new ones.
    fn with_row<const N: usize>(&self, kept: &[&str], new: [String; N], from: &str, end: &str) -> String {
        let kept = ROW.iter().chain(kept).map(|&column| column.to_owned()).chain(self.gap_columns());
        format!("{}\n  FROM {from}{end}", select(&kept.chain(new).collect::<Vec<_>>()))
    }
}
