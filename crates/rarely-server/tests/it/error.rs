//! The same error has the same status in the API and on the pages.

use axum::body::Body;
use axum::http::Request;
use serde_json::Value as Json;

use crate::support::{BY_HAND, Service, document, signature};

/// A browser that is signed in.
struct Browser<'a> {
    service: &'a Service,
    token: &'a str,
    cookie: String,
    csrf: String,
}

impl<'a> Browser<'a> {
    async fn sign_in(service: &'a Service, token: &'a str) -> Self {
        let mut browser = Self { service, token, cookie: String::new(), csrf: String::new() };
        let reply = browser.post("/sign-in", &[]).await;
        let cookie = reply.headers["set-cookie"].to_str().unwrap();
        browser.cookie = cookie.split(';').next().unwrap().to_owned();
        let page = browser.get("/").await.text();
        let csrf = page.split_once("name=\"csrf\" value=\"").expect("a form").1;
        csrf.split('"').next().unwrap().clone_into(&mut browser.csrf);
        browser
    }

    async fn get(&self, path: &str) -> crate::support::Reply {
        let request = Request::get(path).header("cookie", &self.cookie).body(Body::empty());
        self.service.send_page(request.unwrap()).await
    }

    /// Sends a form with the token, a signature and these fields.
    async fn post(&self, path: &str, fields: &[(&str, &str)]) -> crate::support::Reply {
        let common = [("csrf", self.csrf.as_str()), ("token", self.token), ("meaning", "mine"), ("reason", "sound")];
        let named = |name: &str| fields.iter().any(|(field, _)| *field == name);
        let fields = common.iter().filter(|(name, _)| !named(name)).chain(fields);
        let body: Vec<String> = fields.map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let request = Request::post(path)
            .header("cookie", &self.cookie)
            .header("content-type", "application/x-www-form-urlencoded");
        self.service.send_page(request.body(Body::from(body.join("&"))).unwrap()).await
    }
}

fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

fn with(field: &str, value: impl Into<Json>) -> Json {
    let mut body = signature();
    body[field] = value.into();
    body
}

/// A path, the body for the API, the fields of the form, and the status of both.
type Form<'a> = (&'a str, Json, &'a [(&'a str, &'a str)], u16);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_api_and_the_pages_give_the_same_status() {
    let service = Service::new();
    service.register(&document("clinic", BY_HAND)).await;
    let other = document("clinic", "review_every = 7");
    let browser = Browser::sign_in(&service, &service.admin).await;
    let long = "r".repeat(4001);
    let forms: [Form<'_>; 9] = [
        ("/policies/clinic/rollback", with("to", 9), &[("to", "9")], 422),
        ("/policies/clinic/rollback", with("to", 1), &[("to", "1")], 409),
        ("/policies/clinic/resume", signature(), &[], 409),
        ("/policies/clinic/stop", with("reason", " "), &[("reason", " ")], 422),
        ("/policies/clinic/stop", with("reason", long.as_str()), &[("reason", &long)], 422),
        ("/policies/clinic/proposals/9/approve", signature(), &[], 404),
        ("/policies/clinic/proposals/9/reject", signature(), &[], 404),
        ("/policies/clinic/review", signature(), &[], 409),
        ("/policies/nobody/stop", signature(), &[], 404),
    ];
    for (path, body, fields, status) in forms {
        let api = service.post(&service.admin, &format!("/v1{path}"), &body).await;
        assert_eq!(api.status.as_u16(), status, "/v1{path}: {}", api.text());
        let page = browser.post(path, fields).await;
        assert_eq!(page.status, api.status, "{path}: {}", page.text());
    }
    for (text, status) in [(other.as_str(), 409), ("policy = \"x", 422), ("policy = 3", 422)] {
        let api = service.call(&service.admin, "POST", "/v1/policies", "application/toml", text.to_owned()).await;
        let page = browser.post("/", &[("document", text)]).await;
        assert_eq!((api.status.as_u16(), page.status.as_u16()), (status, status), "{text}: {}", page.text());
    }
    for path in ["/policies/nobody", "/policies/clinic/proposals/9", "/policies/clinic/decisions/9"] {
        let api = service.get(&service.admin, &format!("/v1{path}")).await;
        assert_eq!((api.status.as_u16(), browser.get(path).await.status.as_u16()), (404, 404), "{path}");
    }
    service.finish();
}
