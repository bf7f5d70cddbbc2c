//! A table as text.

use comfy_table::{CellAlignment, ContentArrangement};

/// A table with a header, plain enough for a pipe and a terminal alike.
///
/// ```
/// use rarely_output::TextTable;
/// let mut table = TextTable::new(&["algorithm", "changes"], &[]);
/// table.row(["rarely", "4.2"]);
/// assert_eq!(table.text(None), " algorithm  changes\n rarely         4.2\n");
/// ```
#[derive(Debug, Clone)]
pub struct TextTable {
    table: comfy_table::Table,
}

impl TextTable {
    /// A table without rows. All columns but the first are numbers, to the right, unless `words` names them.
    pub fn new(header: &[&str], words: &[usize]) -> Self {
        let mut table = comfy_table::Table::new();
        table.load_style(comfy_table::presets::NOTHING).set_header(header.iter().copied());
        for at in (1..header.len()).filter(|at| !words.contains(at)) {
            if let Some(column) = table.column_mut(at) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        Self { table }
    }

    /// One more row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl AsRef<str>>) {
        self.table.add_row(cells.into_iter().map(|cell| cell.as_ref().to_owned()));
    }

    /// Its text, without blanks at the ends of lines. Where it is wider than `width` characters, cells take several lines;
    /// without a width none does.
    pub fn text(mut self, width: Option<u16>) -> String {
        if let Some(width) = width {
            self.table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        }
        let mut text = String::new();
        for line in self.table.to_string().lines() {
            text += line.trim_end();
            text.push('\n');
        }
        text
    }
}
