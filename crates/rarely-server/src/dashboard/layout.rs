//! The layout of every page: header, breadcrumbs, footer; and tables, lists and figures.

use axum::response::Html;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use rarely_live::Role;

use super::Dashboard;
use super::assets::{PASSKEY_SCRIPT_ADDRESS, SCRIPT_ADDRESS, STYLE_ADDRESS};
use super::visitor::Visitor;

/// Everything of a page except its content.
pub(super) struct PageLayout<'a> {
    title: &'a str,
    /// The pages above this one: URL and name.
    breadcrumbs: Vec<(String, String)>,
    visitor: Option<&'a Visitor>,
    relaxed: bool,
    /// The URL of the notifications, and the last event that the page shows.
    live: Option<(String, u64)>,
    /// Whether passkeys can sign on the page.
    signing: bool,
}

impl<'a> PageLayout<'a> {
    /// A page without a visitor.
    pub(super) fn bare(title: &'a str) -> Self {
        Self { title, breadcrumbs: Vec::new(), visitor: None, relaxed: false, live: None, signing: false }
    }

    /// A page for a visitor.
    pub(super) fn of(dashboard: &Dashboard, visitor: &'a Visitor, title: &'a str) -> Self {
        Self { visitor: Some(visitor), relaxed: dashboard.is_relaxed(), ..Self::bare(title) }
    }

    /// Adds a breadcrumb.
    pub(super) fn under(mut self, address: impl Into<String>, name: impl Into<String>) -> Self {
        self.breadcrumbs.push((address.into(), name.into()));
        self
    }

    /// Updates the page after new events.
    pub(super) fn live(mut self, address: String, event: u64) -> Self {
        self.live = Some((address, event));
        self
    }

    /// Lets passkeys sign on the page.
    pub(super) fn signing(mut self) -> Self {
        self.signing = true;
        self
    }

    /// The page with its content.
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
                    @if self.signing { script src=(*PASSKEY_SCRIPT_ADDRESS) defer {} }
                }
                body data-live=[address] {
                    a.skip href="#main" { "Skip to the content" }
                    (self.header())
                    @if self.relaxed {
                        div.banner role="note" { p.page {
                            strong { "Durability is relaxed: " }
                            "responses do not wait for the disk. If the machine fails, the last decisions and outcomes may be lost."
                        } }
                    }
                    div.page {
                        (self.breadcrumbs())
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

    fn header(&self) -> Markup {
        html! {
            header.top { div.page {
                a.brand href="/" { "rarely" }
                @if let Some(visitor) = self.visitor {
                    nav aria-label="Main" {
                        a href="/" aria-current=[self.breadcrumbs.is_empty().then_some("page")] { "Policies" }
                        a href="/keys" { "Your keys" }
                        @if visitor.grant.allows(Role::Auditor, None) { a href="/audit" { "Service" } }
                    }
                    form method="post" action="/sign-out" {
                        span.small { "Signed in as " strong { (visitor.grant.name) } }
                        (csrf(visitor))
                        button.plain type="submit" { "Sign out" }
                    }
                }
            } }
        }
    }

    fn breadcrumbs(&self) -> Markup {
        html! {
            @if !self.breadcrumbs.is_empty() {
                nav.trail aria-label="Breadcrumbs" { ol {
                    @for (address, name) in &self.breadcrumbs { li { a href=(address) { (name) } } }
                    li aria-current="page" { (self.title) }
                } }
            }
        }
    }
}

/// The hidden field that ties a form to its session.
pub(super) fn csrf(visitor: &Visitor) -> Markup {
    html! { input type="hidden" name="csrf" value=(visitor.session.csrf); }
}

/// A cell of a table.
pub(super) enum TableCell {
    /// Left-aligned.
    Left(Markup),
    /// Left-aligned, wide enough for sentences.
    Words(Markup),
    /// Left-aligned, on one line.
    OneLine(Markup),
    /// Right-aligned.
    Number(Markup),
    /// The heading of the row.
    Head(Markup),
    /// The heading of the row, on one line.
    Name(Markup),
}

impl TableCell {
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

/// A table that scrolls if the page is too narrow. A heading that starts with `#` is for a column of numbers.
pub(super) fn table(caption: &str, head: &[&str], rows: impl IntoIterator<Item = Vec<TableCell>>) -> Markup {
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
                        TableCell::Left(content) => td { (content) },
                        TableCell::Words(content) => td.words { (content) },
                        TableCell::OneLine(content) => td.whole { (content) },
                        TableCell::Number(content) => td.number { (content) },
                        TableCell::Head(content) => th scope="row" { (content) },
                        TableCell::Name(content) => th.whole scope="row" { (content) },
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

/// A figure with its caption. The SVG is made by this program, so it is not escaped.
pub(super) fn picture(svg: &str, caption: &str) -> Markup {
    html! {
        figure {
            div.wide role="region" aria-label="Figure" tabindex="0" { (PreEscaped(svg)) }
            figcaption { (caption) }
        }
    }
}

/// A number with its name.
pub(super) fn fact(name: &str, value: &Markup) -> Markup {
    html! { div { dt { (name) } dd { (value) } } }
}
