//! The options about traces.

use std::env;

use clap::Args;
use rarely_server::TraceOptions;

/// Where traces go.
#[derive(Debug, Args)]
#[command(next_help_heading = "Traces")]
pub(super) struct TraceArguments {
    // Not a comment for rustdoc, which wants links around addresses.
    #[arg(
        help = "Collector of OpenTelemetry that gets a span for each request: OTLP in JSON over HTTP, like http://127.0.0.1:4318 \
                [default: OTEL_EXPORTER_OTLP_ENDPOINT, otherwise none]",
        long,
        value_name = "URL",
        value_parser = address
    )]
    otlp_endpoint: Option<String>,
}

impl TraceArguments {
    /// With the usual variables of OpenTelemetry: headers may be secrets, so that no option has them.
    pub(super) fn options(&self) -> Option<TraceOptions> {
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
        if variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return None;
        }
        let endpoint = self.otlp_endpoint.clone().or_else(|| variable("OTEL_EXPORTER_OTLP_ENDPOINT"))?;
        let mut options = TraceOptions::new(endpoint);
        if let Some(name) = variable("OTEL_SERVICE_NAME") {
            options.service_name = name;
        }
        options.headers = variable("OTEL_EXPORTER_OTLP_HEADERS").map(|text| headers(&text)).unwrap_or_default();
        Some(options)
    }
}

fn address(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    let is_address = rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(['?', '#', ' ']));
    if is_address { Ok(text.to_owned()) } else { Err("expected an address like http://127.0.0.1:4318".to_owned()) }
}

/// `name=value,other=value`.
fn headers(text: &str) -> Vec<(String, String)> {
    let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_headers() {
        assert!(address("http://127.0.0.1:4318").is_ok() && address("https://collector.example.org/otlp").is_ok());
        for wrong in ["", "127.0.0.1:4318", "http://", "ftp://x", "http://x?y"] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
        let expected = [("api-key".to_owned(), "a=b".to_owned()), ("tenant".to_owned(), "7".to_owned())];
        assert_eq!(headers("api-key=a=b, tenant = 7,"), expected);
    }
}
