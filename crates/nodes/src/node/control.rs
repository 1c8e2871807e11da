//! The HTTP interface of a node, on loopback: metrics, status, packets to inject.
//! Also its client, for the commands.

use std::net::SocketAddr;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use tidegate_core::active::message::{Hop, Trace, service};
use tidegate_core::active::{Address, Header, MOST_PAYLOAD};
use tokio::sync::{mpsc, oneshot};

use super::engine::Engine;
use super::metrics;
use super::reason::Reason;
use super::state::Traced;
use super::status::Status;
use tidegate_common::fail::Failure;

/// A request to the loop of the node.
pub enum NodeRequest {
    /// Return the status.
    Status(oneshot::Sender<Status>),
    /// Let the source begin.
    Begin(oneshot::Sender<()>),
    /// Inject packets.
    Send(Injection, oneshot::Sender<Result<u32, String>>),
    /// Send a trace, and return its number.
    Trace(Following, oneshot::Sender<Result<u32, String>>),
    /// Return the answers to a trace.
    Traced(u32, oneshot::Sender<Vec<Traced>>),
}

/// Packets to inject at a node.
#[derive(clap::Args, Clone, Debug, Serialize, Deserialize)]
#[command(about = None, long_about = None)]
#[serde(deny_unknown_fields)]
pub struct Injection {
    /// The destination
    #[arg(value_name = "TO")]
    pub to: Address,
    /// Number of packets
    #[arg(long, default_value_t = 1)]
    pub count: u32,
    /// Payload of each packet
    #[arg(long, default_value = "")]
    pub payload: String,
    /// Number of the requested service; default: passive packets
    #[arg(long)]
    pub service: Option<u16>,
    /// Time to live, ms
    #[arg(long, default_value_t = 10_000)]
    pub life_ms: u32,
}

/// A route to trace.
#[derive(clap::Args, Clone, Debug, Serialize, Deserialize)]
#[command(about = None, long_about = None)]
#[serde(deny_unknown_fields)]
pub struct Following {
    /// The destination
    #[arg(value_name = "TO")]
    pub to: Address,
    /// Let every hop answer, not only the destination: shows where a route breaks
    #[arg(long)]
    pub every_hop: bool,
    /// How long to wait for answers, in ms
    #[arg(long, default_value_t = 5_000)]
    pub wait_ms: u32,
}

/// An answer to a trace.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Followed {
    /// Who answered.
    pub by: Address,
    /// The hops up to there.
    pub hops: Vec<Hop>,
}

/// Packets per injection, at most.
const MOST_INJECTED: u32 = 100_000;
const MOST_WAIT: u32 = 60_000;

type Orders = mpsc::Sender<NodeRequest>;
type Refused = (StatusCode, String);

/// Answers requests until the node ends.
pub(super) async fn serve(listener: tokio::net::TcpListener, orders: Orders) {
    let routes = Router::new()
        .route("/metrics", get(metrics_page))
        .route("/status", get(status))
        .route("/begin", post(begin))
        .route("/send", post(send))
        .route("/traceroute", post(trace))
        .with_state(orders);
    // ends with the process
    let _ = axum::serve(listener, routes).await;
}

async fn order<T>(
    orders: &Orders,
    make: impl FnOnce(oneshot::Sender<T>) -> NodeRequest,
) -> Result<T, Refused> {
    let stopping = || (StatusCode::SERVICE_UNAVAILABLE, "the node is stopping".to_owned());
    let (answer, answered) = oneshot::channel();
    orders.send(make(answer)).await.map_err(|_| stopping())?;
    answered.await.map_err(|_| stopping())
}

async fn metrics_page(
    State(orders): State<Orders>,
) -> Result<([(&'static str, &'static str); 1], String), Refused> {
    let page = metrics::page(&order(&orders, NodeRequest::Status).await?);
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([("content-type", kind)], page))
}

async fn status(State(orders): State<Orders>) -> Result<Json<Status>, Refused> {
    order(&orders, NodeRequest::Status).await.map(Json)
}

async fn begin(State(orders): State<Orders>) -> Result<(), Refused> {
    order(&orders, NodeRequest::Begin).await
}

async fn send(
    State(orders): State<Orders>,
    Json(injection): Json<Injection>,
) -> Result<Json<u32>, Refused> {
    let sent = order(&orders, |answer| NodeRequest::Send(injection, answer)).await?;
    sent.map(Json).map_err(|message| (StatusCode::BAD_REQUEST, message))
}

async fn trace(
    State(orders): State<Orders>,
    Json(following): Json<Following>,
) -> Result<Json<Vec<Followed>>, Refused> {
    let wait = following.wait_ms.min(MOST_WAIT);
    let every_hop = following.every_hop;
    let end = following.to;
    let sent = order(&orders, |answer| NodeRequest::Trace(following, answer)).await?;
    let number = sent.map_err(|message| (StatusCode::BAD_REQUEST, message))?;
    let mut found = Vec::new();
    for _ in 0..wait.div_ceil(20) {
        tokio::time::sleep(Duration::from_millis(20)).await;
        found.extend(order(&orders, |answer| NodeRequest::Traced(number, answer)).await?);
        if found.iter().any(|traced| traced.by == end) {
            break;
        }
    }
    // answers may arrive out of order; sorted by length they follow the route
    found.sort_by_key(|traced| traced.trace.hops.len());
    let followed = found.into_iter();
    let followed = followed.map(|traced| Followed { by: traced.by, hops: traced.trace.hops });
    let followed: Vec<_> = followed.collect();
    if followed.is_empty() && !every_hop {
        let message = format!("nothing came back from {end} within {wait} ms");
        return Err((StatusCode::GATEWAY_TIMEOUT, message));
    }
    Ok(Json(followed))
}

/// Carries out a request.
pub(super) fn carry_out(order: NodeRequest, engine: &mut Engine) {
    // an error means that the client has gone
    match order {
        NodeRequest::Status(answer) => {
            let _ = answer.send(engine.status());
        }
        NodeRequest::Begin(answer) => {
            engine.begin();
            let _ = answer.send(());
        }
        NodeRequest::Send(injection, answer) => {
            let _ = answer.send(inject(&injection, engine));
        }
        NodeRequest::Trace(following, answer) => {
            let _ = answer.send(follow(&following, engine));
        }
        NodeRequest::Traced(number, answer) => {
            let _ = answer.send(engine.take_traces(number));
        }
    }
}

fn inject(injection: &Injection, engine: &mut Engine) -> Result<u32, String> {
    if !(1..=MOST_INJECTED).contains(&injection.count) {
        return Err(format!("count = {}: write 1 to {MOST_INJECTED}", injection.count));
    }
    if injection.payload.len() > MOST_PAYLOAD {
        return Err(format!(
            "{} bytes of payload: {MOST_PAYLOAD} are the most",
            injection.payload.len()
        ));
    }
    for _ in 0..injection.count {
        let header = Header {
            active: injection.service.is_some(),
            source: engine.address(),
            destination: injection.to,
            previous: engine.address(),
            service: injection.service.unwrap_or(0),
            number: engine.next_number(),
            life_ms: injection.life_ms,
        };
        if let Some(reason) = engine.refuses(&header) {
            return Err(refusal(reason, injection, engine));
        }
        engine.inject(&header, injection.payload.as_bytes()).map_err(|error| error.to_string())?;
    }
    Ok(injection.count)
}

/// What is wrong with packets that the node would drop at once.
fn refusal(reason: Reason, injection: &Injection, engine: &Engine) -> String {
    match reason {
        Reason::Expired => "life_ms = 0: write 1 or more".to_owned(),
        Reason::UnknownService => {
            let service = injection.service.unwrap_or(0);
            format!("service = {service}: not on the menu of {}", engine.address())
        }
        _ => format!("no route leads from {} to {}", engine.address(), injection.to),
    }
}

fn follow(following: &Following, engine: &mut Engine) -> Result<u32, String> {
    let number = engine.next_number();
    let here = engine.address();
    let header = Header {
        active: true,
        source: here,
        destination: following.to,
        previous: here,
        service: service::TRACE,
        number,
        life_ms: following.wait_ms.clamp(1, MOST_WAIT),
    };
    let trace = Trace { every_hop: following.every_hop, hops: Vec::new() };
    engine.inject(&header, &trace.encode()).map_err(|error| error.to_string())?;
    Ok(number)
}

/// Client of a node's HTTP interface.
#[derive(Clone, Copy, Debug)]
pub struct Remote {
    address: SocketAddr,
}

impl Remote {
    /// At this address.
    pub fn new(address: SocketAddr) -> Remote {
        Remote { address }
    }

    fn failure(self, error: &ureq::Error) -> Failure {
        Failure::failed(self.address, error)
            .remedy("is a node running there? Its `control` address is in its configuration")
    }

    fn agent() -> ureq::Agent {
        let wait = Duration::from_millis(u64::from(MOST_WAIT) + 5_000);
        ureq::Agent::config_builder()
            .timeout_global(Some(wait))
            .http_status_as_error(false)
            .build()
            .into()
    }

    fn read(
        self,
        answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    ) -> Result<String, Failure> {
        let mut answer = answer.map_err(|error| self.failure(&error))?;
        let good = answer.status().is_success();
        let body = answer.body_mut().with_config().limit(1 << 28).read_to_string();
        let body = body.map_err(|error| self.failure(&error))?;
        if good { Ok(body) } else { Err(Failure::failed(self.address, body)) }
    }

    fn parse<T: for<'de> Deserialize<'de>>(self, body: &str) -> Result<T, Failure> {
        serde_json::from_str(body).map_err(|error| {
            Failure::failed(self.address, error).remedy("the node may be of another version")
        })
    }

    /// The status of the node.
    ///
    /// # Errors
    /// It does not answer.
    pub fn status(self) -> Result<Status, Failure> {
        let body =
            self.read(Self::agent().get(format!("http://{}/status", self.address)).call())?;
        self.parse(&body)
    }

    /// Starts its source.
    ///
    /// # Errors
    /// It does not answer.
    pub fn begin(self) -> Result<(), Failure> {
        self.read(Self::agent().post(format!("http://{}/begin", self.address)).send_empty())
            .map(drop)
    }

    /// Injects packets.
    ///
    /// # Errors
    /// It does not answer, or refuses.
    pub fn send(self, injection: &Injection) -> Result<u32, Failure> {
        let url = format!("http://{}/send", self.address);
        let body = self.read(Self::agent().post(url).send_json(injection))?;
        self.parse(&body)
    }

    /// Traces a route.
    ///
    /// # Errors
    /// It does not answer, or nothing came back.
    pub fn trace(self, following: &Following) -> Result<Vec<Followed>, Failure> {
        let url = format!("http://{}/traceroute", self.address);
        let body = self.read(Self::agent().post(url).send_json(following))?;
        self.parse(&body)
    }
}
