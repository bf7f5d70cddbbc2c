//! The style sheet and the scripts, compiled into the program.

use std::sync::LazyLock;

use axum::http::header;
use axum::response::IntoResponse;
use rarely_store::Hash;

/// The style sheet of every page.
pub(super) const STYLE: &str = include_str!("assets/style.css");
/// The script that updates a page. Every page works without it.
pub(super) const SCRIPT: &str = include_str!("assets/live.js");

/// The script that signs with passkeys.
const PASSKEY_SCRIPT: &str = include_str!("assets/passkey.js");

/// The URL changes with the content, so that browsers can cache it forever.
pub(super) static STYLE_ADDRESS: LazyLock<String> = LazyLock::new(|| address("style.css", STYLE));
/// As [`STYLE_ADDRESS`], for the script.
pub(super) static SCRIPT_ADDRESS: LazyLock<String> = LazyLock::new(|| address("live.js", SCRIPT));

/// As [`STYLE_ADDRESS`], for the script of passkeys.
pub(super) static PASSKEY_SCRIPT_ADDRESS: LazyLock<String> = LazyLock::new(|| address("passkey.js", PASSKEY_SCRIPT));

/// `GET /assets/style.css`.
pub(super) async fn style() -> impl IntoResponse {
    served("text/css; charset=utf-8", STYLE)
}

/// `GET /assets/live.js`.
pub(super) async fn script() -> impl IntoResponse {
    served("text/javascript; charset=utf-8", SCRIPT)
}

/// `GET /assets/passkey.js`.
pub(super) async fn passkey_script() -> impl IntoResponse {
    served("text/javascript; charset=utf-8", PASSKEY_SCRIPT)
}

fn served(kind: &'static str, content: &'static str) -> impl IntoResponse {
    let keep = "public, max-age=31536000, immutable";
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, keep)], content)
}

fn address(name: &str, content: &str) -> String {
    format!("/assets/{name}?{:.16}", Hash::of(content.as_bytes()).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The colour that the style sheet gives a name.
    fn colour(name: &str) -> [f64; 3] {
        let start = format!("--{name}: #");
        let at = STYLE.find(&start).unwrap_or_else(|| panic!("no colour {name}")) + start.len();
        let channel = |index: usize| {
            let byte =
                u8::from_str_radix(&STYLE[at + 2 * index..at + 2 * index + 2], 16).expect("a colour of six digits");
            let share = f64::from(byte) / 255.0;
            if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        [channel(0), channel(1), channel(2)]
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let luminance = |name: &str| {
            let [red, green, blue] = colour(name);
            0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
        };
        let (one, other) = (luminance(one), luminance(other));
        if one > other { one / other } else { other / one }
    }

    #[test]
    fn every_text_has_enough_contrast() {
        let pairs = [
            ("ink", "paper"),
            ("ink", "tint"),
            ("muted", "paper"),
            ("muted", "tint"),
            ("accent", "paper"),
            ("accent", "tint"),
            ("paper", "accent"),
            ("good-ink", "good"),
            ("fair-ink", "fair"),
            ("bad-ink", "bad"),
        ];
        for (text, ground) in pairs {
            let found = contrast(text, ground);
            assert!(found >= 4.5, "{text} on {ground} has a contrast of {found:.2}; WCAG AA requires 4.5");
        }
        for (edge, ground) in [("edge", "paper"), ("accent", "paper"), ("accent", "tint")] {
            let found = contrast(edge, ground);
            assert!(
                found >= 3.0,
                "{edge} beside {ground} has a contrast of {found:.2}; WCAG AA requires 3 for controls"
            );
        }
    }

    #[test]
    fn nothing_is_loaded_from_other_hosts() {
        for (name, content) in [("style.css", STYLE), ("live.js", SCRIPT)] {
            assert!(!content.contains("http:") && !content.contains("https:"), "{name} names another host");
            assert!(!content.contains("@import") && !content.contains("url("), "{name} loads something");
        }
    }
}
