//! The style sheet and the script, compiled into the program.

use axum::http::header;
use axum::response::IntoResponse;
use rarely_plot::Page;

/// What the desk adds to the style of a review's page.
pub(super) const STYLE: &str = include_str!("../assets/desk.css");
/// Dropping files, progress and the preview. Every page works without it.
pub(super) const SCRIPT: &str = include_str!("../assets/desk.js");

/// `GET /assets/desk.css`.
pub(crate) async fn style() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], format!("{}{STYLE}", Page::STYLE))
}

/// `GET /assets/desk.js`.
pub(crate) async fn script() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], SCRIPT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_loaded_from_other_hosts() {
        for (name, content) in [("desk.css", STYLE), ("desk.js", SCRIPT), ("page", Page::STYLE)] {
            assert!(!content.contains("http:") && !content.contains("https:"), "{name} names another host");
            assert!(!content.contains("@import") && !content.contains("url("), "{name} loads something");
        }
    }
}
