//! Requests: each changes the session or shows a page of it.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Form, Path as UrlPath, Query, Request, State};
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Json, Redirect, Response};
use axum::routing::{get, post, put};
use maud::Markup;
use rarely_policy::DataFormat;
use serde::Deserialize;
use serde_json::json;

use crate::access::Refusal;
use crate::answers::Answers;
use crate::document::{DOCUMENT_NAME, written};
use crate::fields::Fields;
use crate::pages::{self, assets};
use crate::preview::Preview;
use crate::problem::Problem;
use crate::reviewing::{REPORT_FOLDER, ReviewTask};
use crate::rule_answers::RuleAnswers;
use crate::saving::{STATE_NAME, save};
use crate::session::{DeskLog, Session, Shared};
use crate::sketching::{ColumnsTask, reject_limit, sketch_log};
use crate::task::start;
use crate::upload::{receive, receive_form, safe_name};

/// Bytes of a form that is no upload: the fields of several thousand columns.
const LARGEST_FORM: usize = 16 << 20;
/// Everything comes from this program. The pages need no inline script and no inline style.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    // With no-referrer, browsers would hide the origin of our own forms too.
    (header::REFERRER_POLICY, "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
];

type Desk = State<Arc<Shared>>;
type Pairs = Form<Vec<(String, String)>>;

pub(crate) fn router(shared: &Arc<Shared>) -> Router {
    Router::new()
        .route("/", get(file_page))
        .route("/upload", put(upload).post(upload_form))
        .route("/path", post(open_path))
        .route("/format", post(change_format))
        .route("/work", get(work_page))
        .route("/work.json", get(work_state))
        .route("/cancel", post(cancel))
        .route("/columns", get(columns_page).post(take_columns))
        .route("/rule", get(rule_page).post(take_rule))
        .route("/preview", post(preview))
        .route("/review", get(review_page))
        .route("/assumptions", post(take_assumptions))
        .route("/save", post(save_files))
        .route("/files/{name}", get(download))
        .route("/assets/desk.css", get(assets::style))
        .route("/assets/desk.js", get(assets::script))
        .layer(DefaultBodyLimit::max(LARGEST_FORM))
        .layer(middleware::from_fn_with_state(Arc::clone(shared), only_the_owner))
        // Opened from a terminal, so that there is no cookie yet.
        .route("/start", get(open_desk))
        .layer(middleware::from_fn_with_state(Arc::clone(shared), only_this_site))
        .with_state(Arc::clone(shared))
}

/// Refuses requests under another name and forms of other sites, and sets the headers of every response.
async fn only_this_site(State(shared): Desk, request: Request, next: Next) -> Response {
    let mut response = match shared.access.check_site(request.method(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refused(refusal),
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn only_the_owner(State(shared): Desk, request: Request, next: Next) -> Response {
    match shared.access.check_cookie(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refused(refusal),
    }
}

fn refused(refusal: Refusal) -> Response {
    (StatusCode::FORBIDDEN, page(&pages::refused(refusal))).into_response()
}

#[derive(Deserialize)]
struct Start {
    token: Option<String>,
}

async fn open_desk(State(shared): Desk, Query(start): Query<Start>, headers: HeaderMap) -> Response {
    if shared.access.check_cookie(&headers).is_ok() {
        return Redirect::to("/").into_response();
    }
    match shared.access.redeem(&start.token.unwrap_or_default()) {
        Some(cookie) => ([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response(),
        None => refused(Refusal::Stranger),
    }
}

fn page(markup: &Markup) -> Html<String> {
    Html(markup.0.clone())
}

async fn file_page(State(shared): Desk) -> Html<String> {
    let mut session = shared.session();
    let problem = session.take_problem("/");
    page(&pages::file(&session, problem.as_ref()))
}

#[derive(Deserialize)]
struct Upload {
    name: String,
}

/// A file that the script sends as the whole body, so that it can tell how far it is.
async fn upload(State(shared): Desk, Query(upload): Query<Upload>, body: Body) -> Response {
    shared.session().cancel();
    let next = match receive(&shared.uploads(), &upload.name, body).await {
        Ok(path) => begin(&shared, path, safe_name(&upload.name), DataFormat::default()),
        Err(problem) => failed(&shared, "/", problem),
    };
    Json(json!({ "next": next })).into_response()
}

/// The same from a form.
async fn upload_form(State(shared): Desk, headers: HeaderMap, body: Body) -> Redirect {
    shared.session().cancel();
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    Redirect::to(match receive_form(&shared.uploads(), kind, body).await {
        Ok((path, name)) => begin(&shared, path, name, DataFormat::default()),
        Err(problem) => failed(&shared, "/", problem),
    })
}

async fn open_path(State(shared): Desk, Form(pairs): Pairs) -> Redirect {
    let fields = Fields::new(pairs);
    Redirect::to(match fields.filled("path") {
        // Paths are often copied with quotation marks around them.
        Some(text) => {
            let text = text.trim_matches('"');
            begin(&shared, PathBuf::from(text), text.to_owned(), DataFormat::default())
        }
        None => failed(&shared, "/", Problem::new("the path is empty", "type the path of a file, or choose a file")),
    })
}

/// Reads the same file in another way.
async fn change_format(State(shared): Desk, Form(pairs): Pairs) -> Redirect {
    let log = shared.session().log.clone();
    let format = pages::format_of(&Fields::new(pairs));
    Redirect::to(match (log, format) {
        (Some(log), Ok(format)) => begin(&shared, log.path, log.name, format),
        (None, _) => "/",
        (_, Err(problem)) => failed(&shared, "/", problem),
    })
}

/// Begins with a file; returns the next page.
fn begin(shared: &Arc<Shared>, path: PathBuf, name: String, format: DataFormat) -> &'static str {
    let log = DeskLog { path, name, format };
    let mut session = shared.session();
    session.begin(log.clone());
    start(shared, &mut session, ("/columns", "/"), move |progress| sketch_log(&log, progress));
    "/work"
}

fn failed(shared: &Shared, place: &'static str, problem: Problem) -> &'static str {
    shared.session().fail(place, problem.without(&shared.uploads()));
    place
}

async fn work_page(State(shared): Desk) -> Response {
    let session = shared.session();
    match &session.task {
        Some(task) => page(&pages::work(&session, &task.progress)).into_response(),
        None => Redirect::to(session.next).into_response(),
    }
}

async fn work_state(State(shared): Desk) -> Response {
    let session = shared.session();
    let state = match &session.task {
        Some(task) => {
            let (done, total) = task.progress.counts();
            json!({ "phase": task.progress.phase(), "done": done, "total": total })
        }
        None => json!({ "next": session.next }),
    };
    Json(state).into_response()
}

async fn cancel(State(shared): Desk) -> Redirect {
    let mut session = shared.session();
    session.cancel();
    Redirect::to(session.next)
}

async fn columns_page(State(shared): Desk) -> Response {
    let mut session = shared.session();
    let problem = session.take_problem("/columns");
    match pages::columns(&session, problem.as_ref()) {
        Some(markup) => page(&markup).into_response(),
        None => Redirect::to("/").into_response(),
    }
}

async fn take_columns(State(shared): Desk, Form(pairs): Pairs) -> Redirect {
    let mut session = shared.session();
    let Some((log, draft, answers)) = known(&session) else { return Redirect::to("/") };
    let answers = answers.with_columns(&Fields::new(pairs));
    // What was typed stays in the form, even if it is wrong.
    session.answers = Some(answers.clone());
    let Some(sketched) = session.sketched.clone() else { return Redirect::to("/") };
    let task = ColumnsTask { log, sketched, draft, answers };
    start(&shared, &mut session, ("/rule", "/columns"), move |progress| task.run(progress));
    Redirect::to("/work")
}

/// The file, its draft and the answers, once there are some.
fn known(session: &Session) -> Option<(DeskLog, crate::document::Draft, Answers)> {
    Some((session.log.clone()?, session.draft.clone()?, session.answers.clone()?))
}

async fn rule_page(State(shared): Desk) -> Response {
    let mut session = shared.session();
    let problem = session.take_problem("/rule");
    match pages::rule(&session, problem.as_ref()) {
        Some(markup) => page(&markup).into_response(),
        None => Redirect::to("/columns").into_response(),
    }
}

/// Who gets what by the rule that is typed, for the script.
async fn preview(State(shared): Desk, Form(pairs): Pairs) -> Html<String> {
    let people = shared.session().people.clone();
    let Some(people) = people else { return Html(String::new()) };
    let answers = RuleAnswers::of_form(&Fields::new(pairs), &people.document);
    let found = answers.rule(&people.document).and_then(|rule| Preview::new(&people, &rule));
    page(&pages::preview(&found))
}

async fn take_rule(State(shared): Desk, Form(pairs): Pairs) -> Redirect {
    let fields = Fields::new(pairs);
    let mut session = shared.session();
    let (Some(people), Some(mut answers)) = (session.people.clone(), session.answers.clone()) else {
        return Redirect::to("/columns");
    };
    answers.rule = RuleAnswers::of_form(&fields, &people.document);
    session.answers = Some(answers);
    Redirect::to(if fields.get("then") == Some("show") { "/rule" } else { review_now(&shared, &mut session, "/rule") })
}

/// Reviews the document as it is now; returns the next page.
fn review_now(shared: &Arc<Shared>, session: &mut Session, back: &'static str) -> &'static str {
    let (Some((log, draft, answers)), Some(sketched)) = (known(session), session.sketched.clone()) else { return "/" };
    let ready = written(&draft, &sketched.columns, &answers).and_then(|found| Ok((found, reject_limit(&answers)?)));
    let ((document, text), reject_limit) = match ready {
        Ok(ready) => ready,
        Err(problem) => {
            session.fail(back, problem);
            return back;
        }
    };
    let task = ReviewTask { log, document, text, reject_limit };
    let folder = shared.folder.clone();
    start(shared, session, ("/review", back), move |progress| {
        let found = Arc::new(task.run(&folder, progress)?);
        Ok(Box::new(move |session: &mut Session| {
            session.earlier = session.review.take();
            session.review = Some(found);
            session.saved.clear();
        }))
    });
    "/work"
}

async fn review_page(State(shared): Desk) -> Response {
    let mut session = shared.session();
    let problem = session.take_problem("/review");
    match pages::review(&session, problem.as_ref(), &shared.saves_in) {
        Some(markup) => page(&markup).into_response(),
        None => Redirect::to("/rule").into_response(),
    }
}

async fn take_assumptions(State(shared): Desk, Form(pairs): Pairs) -> Redirect {
    let fields = Fields::new(pairs);
    let mut session = shared.session();
    let Some(mut answers) = session.answers.clone() else { return Redirect::to("/") };
    answers.assumptions = answers.assumptions.of_form(&fields, answers.option_names().len());
    answers.take_outcome_range(&fields);
    fields.text("reject_limit", &mut answers.reject_limit);
    session.answers = Some(answers);
    Redirect::to(review_now(&shared, &mut session, "/review"))
}

async fn save_files(State(shared): Desk, Form(pairs): Pairs) -> Redirect {
    let fields = Fields::new(pairs);
    let mut session = shared.session();
    let Some(review) = session.review.clone() else { return Redirect::to("/rule") };
    let saved = match fields.filled("folder") {
        Some(folder) => save(&shared.saves_in.join(folder), &review, &shared.folder.join(REPORT_FOLDER)),
        None => Err(Problem::new("the folder has no name", "name a folder; a new one is created")),
    };
    match saved {
        Ok(files) => session.saved = files,
        Err(problem) => session.fail("/review", problem),
    }
    Redirect::to("/review#save")
}

/// What can be downloaded: the document at any time, the rest of a review.
async fn download(State(shared): Desk, UrlPath(name): UrlPath<String>) -> Response {
    let session = shared.session();
    let review = session.review.as_ref();
    let found = match name.as_str() {
        DOCUMENT_NAME => review.map(|review| ("application/toml", review.text.clone())),
        "review.html" => review.map(|review| ("text/html; charset=utf-8", review.page.clone())),
        "review.json" => review.map(|review| ("application/json", review.json.clone())),
        STATE_NAME => review.map(|review| ("application/json", review.state.clone())),
        _ => None,
    };
    match found {
        Some((kind, content)) => {
            let kept = format!("attachment; filename=\"{name}\"");
            ([(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, kept)], content).into_response()
        }
        None => (StatusCode::NOT_FOUND, page(&pages::not_found())).into_response(),
    }
}
