//! One self-contained HTML page: opens offline, reads on a phone, prints.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::figure::Figure;

/// A page that is written from top to bottom.
///
/// ```
/// use rarely_plot::Page;
/// let mut page = Page::new("A review");
/// page.heading("Verdict").paragraph("keep < change");
/// assert!(page.html().contains("keep &lt; change"));
/// ```
#[derive(Debug, Clone)]
pub struct Page {
    title: String,
    body: String,
    contents: Vec<String>,
    column: Column,
}

/// How wide a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    /// As wide as text is read; figures fill it.
    Text,
    /// As wide as large figures, which fill it; text stays narrower.
    Figures,
}

/// A cell of a table on a page.
#[derive(Debug, Clone, PartialEq)]
pub enum PageCell {
    /// Words, to the left.
    Text(String),
    /// A number, to the right.
    Number(String),
    /// Words that lead to another page, by its address.
    Link(String, String),
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
        Self { title: title.into(), body: String::new(), contents: Vec::new(), column: Column::Text }
    }

    /// An empty page of large figures: they fill the column on a wide screen, and scroll in their natural size on a narrow one.
    pub fn of_figures(title: impl Into<String>) -> Self {
        Self { column: Column::Figures, ..Self::new(title) }
    }

    fn add(&mut self, markup: Markup) -> &mut Self {
        self.body += &markup.into_string();
        self.body.push('\n');
        self
    }

    /// A heading, listed in the table of contents.
    pub fn heading(&mut self, text: &str) -> &mut Self {
        self.contents.push(text.to_owned());
        let id = section(self.contents.len());
        self.add(html! { h2 id=(id) { (text) } })
    }

    /// A smaller heading.
    pub fn subheading(&mut self, text: &str) -> &mut Self {
        self.add(html! { h3 { (text) } })
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: &str) -> &mut Self {
        self.add(html! { p { (text) } })
    }

    /// A list.
    pub fn list(&mut self, items: impl IntoIterator<Item = String>) -> &mut Self {
        self.add(html! { ul { @for item in items { li { (item) } } } })
    }

    /// A command, as it is typed.
    pub fn command(&mut self, text: &str) -> &mut Self {
        self.add(html! { pre { code { (text) } } })
    }

    /// A figure, drawn in the page, with its caption.
    pub fn figure(&mut self, figure: &Figure, caption: &str) -> &mut Self {
        let drawn = PreEscaped(figure.svg());
        self.add(html! { figure { div class="wide" { (drawn) } figcaption { (caption) } } })
    }

    /// A table; it scrolls by itself where the page is too narrow.
    pub fn table(&mut self, header: &[&str], rows: impl IntoIterator<Item = Vec<PageCell>>) -> &mut Self {
        self.add(html! {
            div class="wide" {
                table {
                    thead { tr { @for name in header { th { (name) } } } }
                    tbody { @for row in rows { tr { @for cell in row { (cell.markup()) } } } }
                }
            }
        })
    }

    /// A part that is collapsed until the reader opens it; printed in full.
    pub fn collapsed(&mut self, summary: &str, fill: impl FnOnce(&mut Self)) -> &mut Self {
        let mut inner = Self { contents: std::mem::take(&mut self.contents), ..Self::new(String::new()) };
        fill(&mut inner);
        self.contents = inner.contents;
        let body = PreEscaped(inner.body);
        self.add(html! { details { summary { (summary) } (body) } })
    }

    /// The whole page.
    pub fn html(&self) -> String {
        let markup = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (self.title) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    main class=[self.column.class()] {
                        h1 { (self.title) }
                        nav { ol { @for (at, text) in self.contents.iter().enumerate() {
                            li { a href=(format!("#{}", section(at + 1))) { (text) } }
                        } } }
                        (PreEscaped(&self.body))
                    }
                }
            }
        };
        markup.into_string() + "\n"
    }
}

impl Column {
    fn class(self) -> Option<&'static str> {
        (self == Self::Figures).then_some("figures")
    }
}

/// The anchor of a section, counted from 1.
fn section(number: usize) -> String {
    format!("section-{number}")
}

impl PageCell {
    fn markup(&self) -> Markup {
        match self {
            Self::Text(text) => html! { td { (text) } },
            Self::Number(text) => html! { td class="number" { (text) } },
            Self::Link(text, address) => html! { td { a href=(address) { (text) } } },
            Self::Badge(tone, text) => html! { td { span class={ "badge " (tone.class()) } { (text) } } },
        }
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
figure svg { display: block; width: 100%; min-width: 34rem; height: auto; }
figcaption { font-size: .9rem; color: #444; }
.wide { overflow-x: auto; background-repeat: no-repeat; background-attachment: local, local, scroll, scroll;
  background-image: linear-gradient(to right, #fff 1rem, #fff0), linear-gradient(to left, #fff 1rem, #fff0),
    linear-gradient(to right, #0005, #0000), linear-gradient(to left, #0005, #0000);
  background-position: left, right, left, right; background-size: 3rem 100%, 3rem 100%, .7rem 100%, .7rem 100%; }
@media screen and (max-width: 35rem) {
  figcaption::before { content: 'Scroll the picture sideways to see all of it. '; color: #00568a; }
  td:first-child:not(.number):not(:has(.badge)) { min-width: 6.5rem; }
}
.figures { max-width: 76rem; }
.figures p, .figures ul, .figures figcaption { max-width: 58rem; }
.figures figure svg { min-width: 0; }
@media screen and (max-width: 60rem) { .figures figure svg { width: auto; } }
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
  main, .figures { max-width: none; padding: 0; }
  nav { display: none; }
  figure, tr { break-inside: avoid; }
  .wide { overflow: visible; }
  figure svg { min-width: 0; }
  details::details-content { content-visibility: visible; height: auto; }
}
";
