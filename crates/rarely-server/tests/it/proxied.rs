//! The service behind a proxy: below a path of another site, by TLS, and called by scripts of other sites.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use rarely_server::{BasePath, NetworkSettings, ServiceSettings};

use crate::support::{BY_HAND, Service, document};

/// A service that believes whoever sends the requests of these tests, which have no address.
fn service(base_path: &str) -> Service {
    let network = NetworkSettings {
        trusted_proxies: vec!["0.0.0.0/32".parse().expect("a network")],
        cors_origins: vec!["https://app.example.org".to_owned()],
    };
    Service::with(ServiceSettings {
        base_path: Arc::new(BasePath::parse(base_path).expect("a path")),
        network: network.into(),
        ..ServiceSettings::plain("0.0.0")
    })
}

fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Request<Body> {
    let begun = Request::builder().method(method).uri(path);
    let with = headers.iter().fold(begun, |request, (name, value)| request.header(*name, *value));
    with.body(Body::from(body.to_owned())).expect("a request")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_address_of_a_page_is_below_the_path() {
    for (configured, told) in [("/rarely", None), ("", Some("/rarely"))] {
        let service = service(configured);
        service.register(&document("clinic", BY_HAND)).await;
        let prefix = told.map(|told| ("x-forwarded-prefix", told));
        let with =
            |more: &[(&'static str, &'static str)]| prefix.into_iter().chain(more.iter().copied()).collect::<Vec<_>>();
        let path = |rest: &str| if configured.is_empty() { rest.to_owned() } else { format!("/rarely{rest}") };
        let first = service.send_page(request("GET", &path("/policies/clinic"), &with(&[]), "")).await;
        assert_eq!(first.headers["location"], "/rarely/sign-in?next=%2Fpolicies%2Fclinic");
        let page = service.send_page(request("GET", &path("/sign-in"), &with(&[]), "")).await.text();
        assert!(
            page.contains("action=\"/rarely/sign-in\"") && page.contains("href=\"/rarely/assets/style.css"),
            "{page}"
        );
        let form = format!("token={}&next=%2Fpolicies%2Fclinic", service.admin);
        let kind = ("content-type", "application/x-www-form-urlencoded");
        let signed = service.send_page(request("POST", &path("/sign-in"), &with(&[kind]), &form)).await;
        assert_eq!(signed.headers["location"], "/rarely/policies/clinic");
        let cookie = signed.headers["set-cookie"].to_str().expect("text").to_owned();
        assert!(cookie.contains("; Path=/rarely/;") && !cookie.contains("Secure"), "{cookie}");
        let session: &'static str = cookie.split(';').next().expect("a cookie").to_owned().leak();
        let page = service
            .send_page(request("GET", &path("/policies/clinic"), &with(&[("cookie", session)]), ""))
            .await
            .text();
        for attribute in ["href=\"/", "src=\"/", "action=\"/", "data-live=\"/"] {
            assert!(page.contains(attribute), "{attribute}");
            assert_eq!(page.matches(attribute).count(), page.matches(&format!("{attribute}rarely/")).count(), "{page}");
        }
        service.finish();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_path_may_have_been_taken_off_before() {
    let service = service("/rarely");
    for path in ["/healthz", "/rarely/healthz"] {
        service.send_page(request("GET", path, &[], "")).await.is(200);
    }
    assert_eq!(service.send_page(request("GET", "/rarelyhealthz", &[], "")).await.status, 404);
    let wrong = ("authorization", "Bearer rarely_0123456789abcdef_0000000000000000000000000000000000000000000");
    let problem = service.send_page(request("GET", "/rarely/v1/policies", &[wrong], "")).await.is(401);
    assert_eq!(problem["type"], "/rarely/docs#problem-roles");
    let described = service.send_page(request("GET", "/rarely/openapi.json", &[], "")).await.is(200);
    assert_eq!(described["servers"][0]["url"], "/rarely");
    service.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proxy_with_tls_makes_cookies_secure() {
    let service = service("");
    let form = format!("token={}", service.admin);
    for (scheme, secure) in [("https", true), ("http", false)] {
        let headers = [("x-forwarded-proto", scheme), ("content-type", "application/x-www-form-urlencoded")];
        let signed = service.send_page(request("POST", "/sign-in", &headers, &form)).await;
        let cookie = signed.headers["set-cookie"].to_str().expect("text");
        assert_eq!(cookie.ends_with("; Secure"), secure, "{cookie}");
        assert_eq!(signed.headers.contains_key("strict-transport-security"), secure);
    }
    service.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_named_sites_may_call_the_api() {
    let service = service("");
    let asked = |origin: &'static str, path: &'static str| {
        let headers = [
            ("origin", origin),
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", "authorization"),
        ];
        request("OPTIONS", path, &headers, "")
    };
    let decisions = "/v1/policies/clinic/decisions";
    let allowed = service.send_page(asked("https://app.example.org", decisions)).await;
    assert_eq!(allowed.status, 200);
    assert_eq!(allowed.headers["access-control-allow-origin"], "https://app.example.org");
    assert!(!allowed.headers.contains_key("access-control-allow-credentials"), "no cookies");
    let other = service.send_page(asked("https://elsewhere.org", decisions)).await;
    assert!(!other.headers.contains_key("access-control-allow-origin"));
    let page = service.send_page(asked("https://app.example.org", "/sign-in")).await;
    assert!(!page.headers.contains_key("access-control-allow-origin"), "pages are nobody else's");
    let read = service.send_page(request("GET", "/healthz", &[("origin", "https://app.example.org")], "")).await;
    assert_eq!(read.headers["access-control-allow-origin"], "https://app.example.org");
    assert!(read.headers["access-control-expose-headers"].to_str().expect("text").contains("x-request-id"));
    service.finish();
}
