//! One self-contained HTML page: opens offline, reads on a phone, prints.

use std::fmt::Write as _;

use crate::figure::Figure;
use crate::text::escape;

/// A page that is written from top to bottom.
///
/// ```
/// use rarely_figures::Page;
/// let mut page = Page::new("A review");
/// page.heading("Verdict").paragraph("keep < change");
/// assert!(page.html().contains("keep &lt; change"));
/// ```
#[derive(Debug, Clone)]
pub struct Page {
    title: String,
    body: String,
    contents: Vec<(String, String)>,
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Words, to the left.
    Text(String),
    /// A number, to the right.
    Number(String),
    /// A word on a coloured ground.
    Badge(Tone, String),
}

/// What a badge says at a glance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Yes.
    Good,
    /// With a reservation.
    Fair,
    /// No.
    Bad,
}

impl Page {
    /// An empty page.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), body: String::new(), contents: Vec::new() }
    }

    /// A heading, listed in the table of contents.
    pub fn heading(&mut self, text: &str) -> &mut Self {
        let id = format!("section-{}", self.contents.len() + 1);
        let _ = writeln!(self.body, "<h2 id=\"{id}\">{}</h2>", escape(text));
        self.contents.push((id, text.to_owned()));
        self
    }

    /// A smaller heading.
    pub fn subheading(&mut self, text: &str) -> &mut Self {
        let _ = writeln!(self.body, "<h3>{}</h3>", escape(text));
        self
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: &str) -> &mut Self {
        let _ = writeln!(self.body, "<p>{}</p>", escape(text));
        self
    }

    /// A list.
    pub fn list(&mut self, items: impl IntoIterator<Item = String>) -> &mut Self {
        self.body += "<ul>\n";
        for item in items {
            let _ = writeln!(self.body, "<li>{}</li>", escape(&item));
        }
        self.body += "</ul>\n";
        self
    }

    /// A command, as it is typed.
    pub fn command(&mut self, text: &str) -> &mut Self {
        let _ = writeln!(self.body, "<pre><code>{}</code></pre>", escape(text));
        self
    }

    /// A figure, drawn in the page, with what it shows.
    pub fn figure(&mut self, figure: &Figure, caption: &str) -> &mut Self {
        let _ = writeln!(
            self.body,
            "<figure><div class=\"wide\">{}</div><figcaption>{}</figcaption></figure>",
            figure.svg(),
            escape(caption)
        );
        self
    }

    /// A table; it scrolls by itself where the page is too narrow.
    pub fn table(&mut self, header: &[&str], rows: impl IntoIterator<Item = Vec<Cell>>) -> &mut Self {
        self.body += "<div class=\"wide\"><table><thead><tr>";
        for name in header {
            let _ = write!(self.body, "<th>{}</th>", escape(name));
        }
        self.body += "</tr></thead><tbody>\n";
        for row in rows {
            self.body += "<tr>";
            for cell in row {
                let _ = match cell {
                    Cell::Text(text) => write!(self.body, "<td>{}</td>", escape(&text)),
                    Cell::Number(text) => write!(self.body, "<td class=\"number\">{}</td>", escape(&text)),
                    Cell::Badge(tone, text) => {
                        write!(self.body, "<td><span class=\"badge {}\">{}</span></td>", tone.class(), escape(&text))
                    }
                };
            }
            self.body += "</tr>\n";
        }
        self.body += "</tbody></table></div>\n";
        self
    }

    /// Something that is folded away until it is asked for; printed in full.
    pub fn folded(&mut self, summary: &str, fill: impl FnOnce(&mut Self)) -> &mut Self {
        let _ = writeln!(self.body, "<details><summary>{}</summary>", escape(summary));
        fill(self);
        self.body += "</details>\n";
        self
    }

    /// The whole page.
    pub fn html(&self) -> String {
        let title = escape(&self.title);
        let entry = |list: String, (id, text): &(String, String)| {
            list + &format!("<li><a href=\"#{id}\">{}</a></li>", escape(text))
        };
        let contents = self.contents.iter().fold(String::new(), entry);
        let body = &self.body;
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n\
             <nav><ol>{contents}</ol></nav>\n{body}</main>\n</body>\n</html>\n"
        )
    }
}

impl Tone {
    fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Fair => "fair",
            Self::Bad => "bad",
        }
    }
}

const STYLE: &str = "
:root { color-scheme: light; }
body { margin: 0; font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; color: #1a1a1a; background: #fff; }
main { max-width: 62rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.6rem; line-height: 1.25; }
h2 { font-size: 1.25rem; margin-top: 2.5rem; border-bottom: 1px solid #ddd; padding-bottom: .2rem; }
h3 { font-size: 1.05rem; margin-top: 1.5rem; }
nav ol { columns: 16rem; padding-left: 1.4rem; font-size: .9rem; }
a { color: #00568a; }
figure { margin: 1.5rem 0; }
figure svg { display: block; max-width: 100%; min-width: 34rem; height: auto; }
figcaption { font-size: .9rem; color: #444; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; margin: .6rem 0; min-width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #e4e4e4; }
th { border-bottom: 2px solid #888; font-weight: 600; }
td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.badge { display: inline-block; padding: .05rem .5rem; border-radius: .7rem; font-weight: 600; }
.good { background: #d3ecdf; color: #00452f; }
.fair { background: #fbe8c2; color: #573c00; }
.bad { background: #f6d6c6; color: #6b2500; }
pre { background: #f5f5f5; padding: .6rem .8rem; overflow-x: auto; }
details { margin: .4rem 0; }
summary { cursor: pointer; }
@media print {
  main { max-width: none; padding: 0; }
  nav { display: none; }
  figure, tr { break-inside: avoid; }
  .wide { overflow: visible; }
  figure svg { min-width: 0; }
  details::details-content { content-visibility: visible; height: auto; }
}
";
