//! Tables for papers: LaTeX and Markdown.

use crate::column_table::{ColumnTable, TableColumn};
use crate::provenance::Provenance;

/// Digits that count.
const DIGITS: usize = 4;

impl ColumnTable {
    /// As a LaTeX `tabular`, with the rules of the package booktabs: numbers with four digits that count, aligned to the right. A comment
    /// says what made it.
    ///
    /// ```
    /// use rarely_output::{ColumnTable, Provenance};
    /// let made = Provenance { version: "0.1.0".into(), command: "rarely simulate".into(), seed: 1 };
    /// let table = ColumnTable::default().texts("arm", ["a_1"]).numbers("regret", [0.12345]);
    /// assert!(table.to_latex(&made).contains("a\\_1 & 0.1235 \\\\"));
    /// assert_eq!(table.to_markdown(&made).lines().last(), Some("| a_1 | 0.1235 |"));
    /// ```
    pub fn to_latex(&self, made_by: &Provenance) -> String {
        let aligned: String = self
            .columns()
            .iter()
            .map(|(_, column)| if matches!(column, TableColumn::Text(_)) { 'l' } else { 'r' })
            .collect();
        let line =
            |cells: Vec<String>| cells.iter().map(|cell| latex(cell)).collect::<Vec<_>>().join(" & ") + " \\\\\n";
        let rows: String = (0..self.rows()).map(|row| line(self.short_cells(row))).collect();
        let head = line(self.columns().iter().map(|(name, _)| name.clone()).collect());
        format!(
            "% {}\n\\begin{{tabular}}{{{aligned}}}\n\\toprule\n{head}\\midrule\n{rows}\\bottomrule\n\\end{{tabular}}\n",
            made_by.to_string().replace('\n', " ")
        )
    }

    /// As a Markdown table, numbers with four digits that count. A comment says what made it.
    pub fn to_markdown(&self, made_by: &Provenance) -> String {
        let line = |cells: Vec<String>| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let head = line(self.columns().iter().map(|(name, _)| name.clone()).collect());
        let rows: String = (0..self.rows()).map(|row| line(self.short_cells(row))).collect();
        // Two hyphens end a comment.
        let made_by = made_by.to_string().replace("--", "-\u{2060}-").replace('\n', " ");
        format!("<!-- {made_by} -->\n\n{head}|{}\n{rows}", "---|".repeat(self.columns().len()))
    }

    fn short_cells(&self, row: usize) -> Vec<String> {
        let cell = |column: &TableColumn| match column {
            TableColumn::Text(values) => values[row].clone(),
            TableColumn::Count(values) => values[row].to_string(),
            TableColumn::Number(values) => values[row].map_or_else(String::new, short),
        };
        self.columns().iter().map(|(_, column)| cell(column)).collect()
    }
}

/// A number with four digits that count, as `%.4g` writes it.
fn short(value: f64) -> String {
    let exponential = format!("{value:.*e}", DIGITS - 1);
    let Some((digits, exponent)) = exponential.split_once('e') else { return exponential };
    let trimmed = |text: &str| {
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text.to_owned() }
    };
    match exponent.parse::<i32>() {
        Ok(power @ -4..=3) => {
            let decimals = usize::try_from(3 - power).unwrap_or(0);
            trimmed(&format!("{value:.decimals$}"))
        }
        _ => format!("{}e{exponent}", trimmed(digits)),
    }
}

fn latex(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => escaped.extend(['\\', letter]),
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::short;

    /// What C's `%.4g` writes, but for exponents of two digits.
    #[test]
    fn four_digits_that_count() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (0.12345, "0.1235"),
            (1234.56, "1235"),
            (9999.96, "1e4"),
            (-0.000_123_456, "-0.0001235"),
            (0.000_012_345, "1.234e-5"),
            (123_456.0, "1.235e5"),
        ];
        for (value, expected) in cases {
            assert_eq!(short(value), expected, "{value}");
        }
    }
}
