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
    /// Above the table of contents.
    lead: String,
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
    /// Words, to the left, on one line of a screen.
    Line(String),
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
    /// Its style sheet.
    pub const STYLE: &str = STYLE;

    /// An empty page.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            lead: String::new(),
            body: String::new(),
            contents: Vec::new(),
            column: Column::Text,
        }
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

    /// The answer, above everything else: what to do, the numbers by name, and one sentence. It fits on the first screen of a phone.
    pub fn lead(&mut self, (tone, headline): (Tone, &str), facts: &[(String, String)], sentence: &str) -> &mut Self {
        let lead = html! {
            section class={ "lead " (tone.class()) } aria-label="The answer in short" {
                p class="headline" { (headline) }
                dl { @for (name, value) in facts { div { dt { (name) } dd { (value) } } } }
                p { (sentence) }
            }
        };
        self.lead = lead.into_string();
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
        self.add(html! { pre tabindex="0" { code { (text) } } })
    }

    /// A figure, drawn in the page, with its caption. In a column of text it is drawn twice: once for its width, and once for a phone's.
    pub fn figure(&mut self, figure: &Figure, caption: &str) -> &mut Self {
        let drawn = match self.column {
            Column::Text => html! {
                div class="on-wide" { (PreEscaped(figure.svg_within(WIDE))) }
                div class="on-narrow" { (PreEscaped(figure.svg_within(NARROW))) }
            },
            Column::Figures => {
                let label = format!("Figure: {}", figure.title);
                html! { div class="wide" tabindex="0" role="group" aria-label=(label) { (PreEscaped(figure.svg())) } }
            }
        };
        // Panels below each other need more of a printed page.
        let tall = (figure.panels.len() > figure.columns).then_some("tall");
        self.add(html! { figure class=[tall] { (drawn) figcaption { (caption) } } })
    }

    /// A table; it scrolls by itself where the page is too narrow.
    pub fn table(&mut self, header: &[&str], rows: impl IntoIterator<Item = Vec<PageCell>>) -> &mut Self {
        let label = self.contents.last().map_or_else(|| "Table".to_owned(), |section| format!("Table: {section}"));
        self.add(html! {
            div class="wide" tabindex="0" role="group" aria-label=(label) {
                table {
                    thead { tr { @for name in header { (header_cell(name)) } } }
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

    /// What is below its title: the answer, the table of contents and the rest, for another page that uses [`Page::STYLE`].
    pub fn content(&self) -> String {
        let contents = html! {
            nav aria-label="Contents" { ol { @for (at, text) in self.contents.iter().enumerate() {
                li { a href=(format!("#{}", section(at + 1))) { (text) } }
            } } }
        };
        format!("{}{}{}", self.lead, contents.into_string(), self.body)
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
                    style { (PreEscaped(Self::STYLE)) }
                }
                body {
                    main class=[self.column.class()] {
                        h1 { (self.title) }
                        (PreEscaped(self.content()))
                    }
                }
            }
        };
        markup.into_string() + "\n"
    }
}

/// A cell above a column; one without a name is no heading.
fn header_cell(name: &str) -> Markup {
    html! { @if name.is_empty() { td {} } @else { th scope="col" { (name) } } }
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
            Self::Line(text) => html! { td class="line" { (text) } },
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

/// The width of figures in a column of text, in pixels; they are stretched a little to fill it.
const WIDE: f64 = 800.0;
/// The width of figures on a phone.
const NARROW: f64 = 358.0;

const STYLE: &str = "
:root { color-scheme: light; }
body { margin: 0; font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; color: #1a1a1a; background: #fff; }
main { max-width: 62rem; margin: 0 auto; padding: 1rem; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .4rem 0 .8rem; }
h2 { font-size: 1.25rem; margin-top: 2.5rem; border-bottom: 1px solid #ddd; padding-bottom: .2rem; }
h3 { font-size: 1.05rem; margin-top: 1.5rem; }
nav ol { columns: 16rem; padding-left: 1.4rem; font-size: .9rem; }
a { color: #00568a; }
.lead { border-left: .45rem solid; border-radius: .3rem; padding: .8rem 1.1rem; margin-bottom: 1.2rem; }
.lead p { margin: .5rem 0 0; color: #1a1a1a; }
.lead .headline { font-size: 1.45rem; line-height: 1.25; font-weight: 700; margin: 0; color: inherit; }
.lead dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: .7rem 1.6rem; margin: .8rem 0; }
.lead dt { font-size: .85rem; color: #333; }
.lead dd { margin: 0; font-size: 1.1rem; line-height: 1.35; font-weight: 600; color: #1a1a1a; }
figure { margin: 1.5rem 0; }
figure svg { display: block; width: 100%; height: auto; }
.on-narrow { display: none; }
figcaption { font-size: .9rem; color: #444; }
.wide { --hint: none; overflow-x: auto; background-repeat: no-repeat; background-attachment: local, local, scroll, scroll;
  background-image: linear-gradient(to right, #fff 1rem, #fff0), linear-gradient(to left, #fff 1rem, #fff0),
    linear-gradient(to right, #0005, #0000), linear-gradient(to left, #0005, #0000);
  background-position: left, right, left, right; background-size: 3rem 100%, 3rem 100%, .7rem 100%, .7rem 100%; }
/* The animation runs only where there is something to scroll. */
@supports (animation-timeline: scroll()) { .wide { animation: hint linear; animation-timeline: scroll(self inline); } }
@keyframes hint { from, to { --hint: block; } }
.wide::before { content: 'Scroll sideways to see all of it →'; display: var(--hint); position: sticky; left: 0; width: max-content;
  font-size: .85rem; color: #00568a; }
@media screen and (max-width: 40rem) {
  .on-wide { display: none; }
  .on-narrow { display: block; }
  h1 { font-size: 1.3rem; }
  .lead { padding: .6rem .8rem; }
  .lead .headline { font-size: 1.25rem; }
  .lead dl { gap: .45rem; }
  .lead dd { font-size: 1rem; }
  td:first-child:not(.number):not(:has(.badge)) { min-width: 9rem; }
}
.figures { max-width: 76rem; }
.figures p, .figures ul, .figures figcaption { max-width: 58rem; }
@media screen and (max-width: 60rem) { .figures figure svg { width: auto; } }
table { border-collapse: collapse; font-size: .88rem; margin: .6rem 0; min-width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #e4e4e4; }
thead th, thead td { border-bottom: 2px solid #888; font-weight: 600; }
td.line { white-space: nowrap; }
td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.badge { display: inline-block; padding: .05rem .5rem; border-radius: .7rem; font-weight: 600; }
.good { background: #d3ecdf; color: #00452f; }
.fair { background: #fbe8c2; color: #573c00; }
.bad { background: #f6d6c6; color: #6b2500; }
pre { background: #f5f5f5; padding: .6rem .8rem; overflow-x: auto; }
details { margin: .4rem 0; }
summary { cursor: pointer; }
@page { margin: 14mm; }
@media print {
  body { font-size: 10.5pt; }
  main, .figures { max-width: none; padding: 0; }
  nav { display: none; }
  h1, h2, h3, summary { break-after: avoid; }
  h2 { margin-top: 1.6rem; }
  p, li { orphans: 3; widows: 3; }
  figure, tr, pre, .lead { break-inside: avoid; }
  p:has(+ .wide) { break-after: avoid; }
  figure { margin: .8rem 0; }
  figure svg { max-height: 85mm; }
  figure.tall svg { max-height: 150mm; }
  thead { display: table-header-group; }
  .wide { overflow: visible; animation: none; background: none; }
  table { width: 100%; min-width: 0; font-size: 8.5pt; }
  th, td { padding: .2rem .35rem; }
  td.number, td.line { white-space: normal; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  .lead, .badge { print-color-adjust: exact; }
  details::details-content { content-visibility: visible; height: auto; }
}
";
