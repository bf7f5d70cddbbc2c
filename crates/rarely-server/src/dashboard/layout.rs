//! What every page has: a head, the way to it, a foot; tables, forms and pictures that look alike.

use axum::response::Html;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::Dashboard;
use super::assets::{SCRIPT_ADDRESS, STYLE_ADDRESS};
use super::visitor::Visitor;

/// A page without its content.
pub(super) struct Frame<'a> {
    title: &'a str,
    /// Pages above this one: address and name.
    trail: Vec<(String, String)>,
    visitor: Option<&'a Visitor>,
    relaxed: bool,
    /// Where the page hears of what happens, and the last event it shows.
    live: Option<(String, u64)>,
}

impl<'a> Frame<'a> {
    /// For nobody in particular.
    pub(super) fn bare(title: &'a str) -> Self {
        Self { title, trail: Vec::new(), visitor: None, relaxed: false, live: None }
    }

    /// For somebody who is signed in.
    pub(super) fn of(dashboard: &Dashboard, visitor: &'a Visitor, title: &'a str) -> Self {
        Self { visitor: Some(visitor), relaxed: dashboard.is_relaxed(), ..Self::bare(title) }
    }

    /// Below another page.
    pub(super) fn under(mut self, address: impl Into<String>, name: impl Into<String>) -> Self {
        self.trail.push((address.into(), name.into()));
        self
    }

    /// Shown again when something happens after this event.
    pub(super) fn live(mut self, address: String, event: u64) -> Self {
        self.live = Some((address, event));
        self
    }

    /// The page with a content.
    pub(super) fn html(&self, content: &Markup) -> Html<String> {
        let (address, event) = match &self.live {
            Some((address, event)) => (Some(address), Some(event)),
            None => (None, None),
        };
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (self.title) " – rarely" }
                    link rel="icon" href="data:,";
                    link rel="stylesheet" href=(*STYLE_ADDRESS);
                    @if self.live.is_some() { script src=(*SCRIPT_ADDRESS) defer {} }
                }
                body data-live=[address] {
                    a.skip href="#main" { "Skip to the content" }
                    (self.head())
                    @if self.relaxed {
                        div.banner role="note" { p.page {
                            strong { "Durability is relaxed: " }
                            "an answer does not wait for the disk, and what was answered last may be lost if the machine stops."
                        } }
                    }
                    div.page {
                        (self.way())
                        main #main data-event=[event] { (content) }
                    }
                    footer { div.page {
                        p { "All times are UTC." }
                        p #live hidden {}
                    } }
                }
            }
        };
        Html(page.into_string())
    }

    fn head(&self) -> Markup {
        html! {
            header.top { div.page {
                a.brand href="/" { "rarely" }
                @if let Some(visitor) = self.visitor {
                    nav aria-label="Main" { a href="/" aria-current=[self.trail.is_empty().then_some("page")] { "Policies" } }
                    form method="post" action="/sign-out" {
                        span.small { "Signed in as " strong { (visitor.grant.name) } }
                        (csrf(visitor))
                        button.plain type="submit" { "Sign out" }
                    }
                }
            } }
        }
    }

    fn way(&self) -> Markup {
        html! {
            @if !self.trail.is_empty() {
                nav.trail aria-label="Where you are" { ol {
                    @for (address, name) in &self.trail { li { a href=(address) { (name) } } }
                    li aria-current="page" { (self.title) }
                } }
            }
        }
    }
}

/// What makes a form one of the session.
pub(super) fn csrf(visitor: &Visitor) -> Markup {
    html! { input type="hidden" name="csrf" value=(visitor.session.csrf); }
}

/// A cell of a table.
pub(super) enum Cell {
    /// To the left.
    Left(Markup),
    /// To the left, with room for sentences.
    Words(Markup),
    /// To the left, on one line.
    Whole(Markup),
    /// A number, to the right.
    Number(Markup),
    /// What the row is about.
    Head(Markup),
    /// The same on one line: a number or a short name.
    Name(Markup),
}

impl Cell {
    pub(super) fn left(text: impl AsRef<str>) -> Self {
        Self::Left(html! { (text.as_ref()) })
    }

    pub(super) fn number(text: impl AsRef<str>) -> Self {
        Self::Number(html! { (text.as_ref()) })
    }

    pub(super) fn head(text: impl AsRef<str>) -> Self {
        Self::Head(html! { (text.as_ref()) })
    }
}

/// A table that scrolls by itself where the page is too narrow. A name that begins with `#` heads a column of numbers.
pub(super) fn table(caption: &str, head: &[&str], rows: impl IntoIterator<Item = Vec<Cell>>) -> Markup {
    html! {
        div.wide role="region" aria-label=(caption) tabindex="0" { table {
            caption.quiet { (caption) }
            thead { tr {
                @for name in head {
                    @match name.strip_prefix('#') {
                        Some(name) => th.number scope="col" { (name) },
                        None => th scope="col" { (name) },
                    }
                }
            } }
            tbody { @for row in rows { tr {
                @for cell in row {
                    @match cell {
                        Cell::Left(content) => td { (content) },
                        Cell::Words(content) => td.words { (content) },
                        Cell::Whole(content) => td.whole { (content) },
                        Cell::Number(content) => td.number { (content) },
                        Cell::Head(content) => th scope="row" { (content) },
                        Cell::Name(content) => th.whole scope="row" { (content) },
                    }
                }
            } } }
        } }
    }
}

/// A list of sentences.
pub(super) fn list<T: AsRef<str>>(items: &[T]) -> Markup {
    html! { ul { @for item in items { li { (item.as_ref()) } } } }
}

/// A rule in words.
pub(super) fn rule(words: &[String]) -> Markup {
    html! { ul.rule { @for line in words { li { (line) } } } }
}

/// A picture of ours, with how to read it.
pub(super) fn picture(svg: &str, caption: &str) -> Markup {
    html! {
        figure {
            div.wide role="region" aria-label="Picture" tabindex="0" { (PreEscaped(svg)) }
            figcaption { (caption) }
        }
    }
}

/// A number with a name.
pub(super) fn fact(name: &str, value: &Markup) -> Markup {
    html! { div { dt { (name) } dd { (value) } } }
}
