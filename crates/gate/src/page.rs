//! A page for a browser: the state of the gates, their last hour, and their orders.
//!
//! It loads nothing from elsewhere. Whoever has the token may read and give orders; who may give
//! orders on a socket is told the token there (`tidegated gate page`).

mod access;
mod hour;
pub mod place;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Serialize;
use tokio::net::TcpListener;
use tokio::time::{interval, sleep};

use self::access::{Names, Token};
use self::hour::{EVERY, Hour, Part};
use self::place::Place;
use super::http;
use super::status::{Member, Status, obeyed};
use tidegate_common::fail::Failure;

/// Gates that answer on one socket, and take orders together.
#[derive(Clone)]
pub struct Group {
    socket: PathBuf,
    members: Vec<Member>,
}

/// What a page is to show, and the names by which it may be opened.
#[derive(Default)]
struct Wanted {
    hosts: Vec<String>,
    /// By the socket on which they answer.
    gates: BTreeMap<PathBuf, Vec<Member>>,
}

/// The pages of a process, by address.
#[derive(Default)]
pub struct Pages(BTreeMap<SocketAddr, Wanted>);

/// What to do where an address cannot be taken.
fn unbound(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::AddrInUse => "set another port in `page`: another program has this one",
        std::io::ErrorKind::AddrNotAvailable => {
            "set an address of this machine in `page`: `ip address` lists them"
        }
        _ => "set another `page`",
    }
}

impl Pages {
    /// Shows a gate, which answers on that socket, at a place.
    pub fn show(&mut self, place: &Place, socket: &std::path::Path, member: Member) {
        let wanted = self.0.entry(place.address).or_default();
        wanted.hosts.extend(place.hosts.iter().cloned());
        wanted.gates.entry(socket.to_owned()).or_default().push(member);
    }

    /// Serves all pages, as tasks of the present runtime; how each is opened, by the socket of its
    /// gates.
    ///
    /// # Errors
    /// An address cannot be bound.
    pub async fn serve(self) -> Result<BTreeMap<PathBuf, String>, Failure> {
        let mut links = BTreeMap::new();
        for (address, Wanted { hosts, gates }) in self.0 {
            let listener = TcpListener::bind(address).await.map_err(|error| {
                Failure::failed(format!("page = \"{address}\""), &error).remedy(unbound(&error))
            })?;
            // a port of 0 is one that the kernel chooses
            let port = listener.local_addr().map_or(address.port(), |at| at.port());
            let token = Token::draw()?;
            let name = hosts.first().map_or(address.ip().to_string(), String::clone);
            let name = if name.contains(':') { format!("[{name}]") } else { name };
            let link = format!("http://{name}:{port}/#{}", token.text());
            links.extend(gates.keys().map(|socket| (socket.clone(), link.clone())));
            let groups = gates.into_iter().map(|(socket, members)| Group { socket, members });
            let shown = Arc::new(Shown::new(groups.collect()));
            tokio::spawn(sample(Arc::clone(&shown)));
            tokio::spawn(http::answer(listener, router(shown, token, Names::with(&hosts))));
        }
        Ok(links)
    }
}

/// What a page shows.
struct Shown {
    groups: Vec<Group>,
    /// The last hour of each gate of each group.
    hours: Mutex<Vec<Vec<Hour>>>,
}

impl Shown {
    fn new(groups: Vec<Group>) -> Shown {
        let none = |group: &Group| group.members.iter().map(|_| Hour::default()).collect();
        let hours = Mutex::new(groups.iter().map(none).collect());
        Shown { groups, hours }
    }

    fn add_sample(&self) {
        let mut hours = self.hours.lock().unwrap_or_else(PoisonError::into_inner);
        for (group, hours) in self.groups.iter().zip(hours.iter_mut()) {
            for ((status, _), hour) in group.members.iter().zip(hours) {
                hour.add(&status.borrow(), now_s());
            }
        }
    }
}

/// Looks at the totals every ten seconds, from now on.
async fn sample(shown: Arc<Shown>) {
    let mut next = interval(EVERY);
    loop {
        next.tick().await;
        shown.add_sample();
    }
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |at| at.as_secs())
}

/// The state of the gates, as the page asks for it.
#[derive(Serialize)]
struct StateNow<'a> {
    now_s: u64,
    groups: Vec<GroupNow<'a>>,
}

#[derive(Serialize)]
struct GroupNow<'a> {
    socket: &'a std::path::Path,
    gates: Vec<Status>,
}

async fn state(State(shown): State<Arc<Shown>>) -> Response {
    let groups = shown.groups.iter().map(|group| GroupNow {
        socket: &group.socket,
        gates: group.members.iter().map(|(status, _)| status.borrow().clone()).collect(),
    });
    Json(StateNow { now_s: now_s(), groups: groups.collect() }).into_response()
}

/// The last hour of the gates, in the order of the state.
#[derive(Serialize)]
struct LastHour<'a> {
    every_s: u64,
    groups: Vec<Vec<Vec<&'a Part>>>,
}

async fn last_hour(State(shown): State<Arc<Shown>>) -> Response {
    let hours = shown.hours.lock().unwrap_or_else(PoisonError::into_inner);
    let groups =
        hours.iter().map(|gates| gates.iter().map(|gate| gate.parts().collect()).collect());
    Json(LastHour { every_s: EVERY.as_secs(), groups: groups.collect() }).into_response()
}

/// Gives an order, as a line on the socket, to the gates of a group.
async fn order(
    State(shown): State<Arc<Shown>>,
    Path(group): Path<usize>,
    text: String,
) -> (StatusCode, String) {
    let Some(group) = shown.groups.get(group) else {
        return (StatusCode::NOT_FOUND, "there is no such gate".to_owned());
    };
    // meanwhile the connection is looked at: where its other end is gone, this ends here. An order
    // that was given while the gate hung must not be carried out when it runs again
    sleep(GONE_WITHIN).await;
    let said = obeyed(&text, &group.members).await;
    match said.split_once(' ') {
        Some(("done", what)) => (StatusCode::OK, what.to_owned()),
        Some((_, what)) => (StatusCode::CONFLICT, what.to_owned()),
        None => (StatusCode::CONFLICT, said),
    }
}

/// Time to notice that who gave an order is gone.
const GONE_WITHIN: Duration = Duration::from_millis(50);
/// A longest order: `enforce` and a number.
const ORDER_BYTES: usize = 100;
/// The page loads its own script and style, asks its own gate, and is in no frame of another page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

fn router(shown: Arc<Shown>, token: Token, names: Names) -> Router {
    let file = |kind: &'static str, text: &'static str| {
        get(move || async move { ([(CONTENT_TYPE, kind)], text) })
    };
    Router::new()
        .route("/state", get(state))
        .route("/hour", get(last_hour))
        .route("/order/{group}", post(order))
        .route_layer(from_fn_with_state(Arc::new(token), only_with_token))
        .route("/", file("text/html; charset=utf-8", include_str!("page/index.html")))
        .route("/page.css", file("text/css; charset=utf-8", include_str!("page/page.css")))
        .route("/page.js", file("text/javascript; charset=utf-8", include_str!("page/page.js")))
        .route("/charts.js", file("text/javascript; charset=utf-8", include_str!("page/charts.js")))
        .layer(from_fn_with_state(Arc::new(names), only_by_name))
        .layer(DefaultBodyLimit::max(ORDER_BYTES))
        .with_state(shown)
}

async fn only_with_token(State(token): State<Arc<Token>>, asked: Request, next: Next) -> Response {
    if token.is_in(asked.headers()) {
        return next.run(asked).await;
    }
    let what = "this is not the token of this page: `tidegated gate page` says it\n";
    (StatusCode::UNAUTHORIZED, what).into_response()
}

async fn only_by_name(State(names): State<Arc<Names>>, asked: Request, next: Next) -> Response {
    let mut answer = match names.admit(asked.uri(), asked.headers()) {
        Ok(()) => next.run(asked).await,
        Err(refusal) => refusal.into_response(),
    };
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

#[cfg(test)]
mod tests;
