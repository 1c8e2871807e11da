//! One end of a connection of quinn or noq, whose code is nearly the same: this file stands in both
//! modules, each with a `proto` of its own.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant, SystemTime};

use bytes::{Bytes, BytesMut};
use tidegate_core::host::{Ends, Heard, Host, Mark, Order, Phase, Report, Stack, Transfer};
use tidegate_core::units::Time;
use tidegate_model::scenario::{QuicControl, QuicCrypto};

use super::ids::{Keys, id};
use super::objects::{Objects, ZEROS};
use super::plain::{Plain, Sides};
use super::proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use super::proto::{
    self, ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir,
    EcnCodepoint, Endpoint, EndpointConfig, Event, NoneTokenStore, ReadError, ServerConfig,
    StreamEvent, StreamId, TimeSource, TransportConfig, ValidationTokenConfig, VarInt,
};
use super::tls::{self, Seeded};
use crate::draws::Draws;

/// Bytes of the request for a download.
const REQUEST: usize = 100;
const CLIENT: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 50_000);
/// What the client knows the server by.
const NAME: &str = "server.example";
const SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)), 443);

/// The instant that stands for the start of a run. Only differences from it matter; it lies a day
/// ahead, so that what quinn takes off it never reaches back behind the start of the machine.
static START: LazyLock<Instant> = LazyLock::new(|| Instant::now() + Duration::from_secs(24 * 3600));

pub(crate) fn instant(now: Time) -> Instant {
    *START + Duration::from_nanos(now.ps() / 1_000)
}

fn time(instant: Instant) -> Time {
    let since = instant.saturating_duration_since(*START).as_nanos();
    Time::from_ns(u64::try_from(since).unwrap_or(u64::MAX / 1_000))
}

/// How long a timer of a server waits if no packet wakes its runtime (tokio): timers fire at whole
/// milliseconds of the runtime, and without packets it sleeps for whole milliseconds from its last
/// packet on. That is none to two, one in the mean.
const SLACK: Time = Time::from_ms(1);

/// Connections with this control, whose datagrams are this long at most.
///
/// The BBR of quinn and noq draws from the randomness of the machine, so that no run with it could
/// be repeated.
pub fn stack(control: QuicControl, crypto: QuicCrypto, datagram: u16) -> Stack {
    let control: Arc<dyn ControllerFactory + Send + Sync> = match control {
        QuicControl::Cubic => Arc::new(CubicConfig::default()),
        QuicControl::NewReno => Arc::new(NewRenoConfig::default()),
    };
    let datagram = datagram.max(1200);
    let mut transport = TransportConfig::default();
    transport
        .congestion_controller_factory(control)
        .initial_mtu(datagram)
        .mtu_discovery_config(None)
        .enable_segmentation_offload(false);
    let settings = ClassConfig::with(transport, crypto, datagram);
    Box::new(move |transfer| settings.ends(transfer))
}

/// What all connections of a class share.
pub(super) struct ClassConfig {
    endpoint: EndpointConfig,
    client: ClientConfig,
    server: Arc<ServerConfig>,
    crypto: QuicCrypto,
}

impl ClassConfig {
    pub(super) fn with(
        transport: TransportConfig,
        crypto: QuicCrypto,
        datagram: u16,
    ) -> ClassConfig {
        let transport = Arc::new(transport);
        let (client, server): Sides = match crypto {
            QuicCrypto::Null => (Arc::new(Plain), Arc::new(Plain)),
            QuicCrypto::Rustls => {
                tls::sides().expect("key and certificate are those of this crate")
            }
        };
        let mut client = ClientConfig::new(client);
        client.transport_config(transport.clone()).token_store(Arc::new(NoneTokenStore));
        let mut server = ServerConfig::new(server, Arc::new(Keys));
        let mut tokens = ValidationTokenConfig::default();
        tokens.sent(0);
        server
            .transport_config(transport)
            .validation_token_config(tokens)
            .time_source(Arc::new(FixedTime));
        let mut endpoint = EndpointConfig::new(Arc::new(Keys));
        // the range holds: the datagram has 1200 bytes or more
        let _ = endpoint.max_udp_payload_size(datagram.clamp(1200, 65_527));
        ClassConfig { endpoint, client, server: Arc::new(server), crypto }
    }

    fn ends(&self, transfer: &Transfer) -> Ends {
        let (mut client, server, config) = self.pair(transfer);
        if self.crypto == QuicCrypto::Null {
            client.connect(transfer.start, config);
            return Ends { client: Box::new(client), server: Box::new(server) };
        }
        let mut secrets = Draws::new(!transfer.seed);
        let [mut client, server] = [client, server].map(|end| Seeded::new(end, secrets.split()));
        client.with_turn(|end| end.connect(transfer.start, config));
        Ends { client: Box::new(client), server: Box::new(server) }
    }

    /// A client and a server, and by what the client connects.
    pub(super) fn pair(&self, transfer: &Transfer) -> (QuicEnd, QuicEnd, ClientConfig) {
        let data = transfer.size.unwrap_or(u64::MAX);
        let (request, answer) = if transfer.download { (REQUEST as u64, data) } else { (data, 0) };
        let mut draws = Draws::new(transfer.seed);
        let client = self.end(&mut draws, None, transfer, request);
        let first = id(&mut draws);
        let mut config = self.client.clone();
        config.initial_dst_cid_provider(Arc::new(move || first));
        let server = self.end(&mut draws, Some(self.server.clone()), transfer, answer);
        (client, server, config)
    }

    fn end(
        &self,
        draws: &mut Draws,
        server: Option<Arc<ServerConfig>>,
        transfer: &Transfer,
        to_send: u64,
    ) -> QuicEnd {
        let mut config = self.endpoint.clone();
        let ids = draws.split();
        proto::draw_ids(&mut config, ids);
        config.rng_seed(Some(draws.seed()));
        let client = server.is_none();
        QuicEnd {
            endpoint: proto::endpoint(Arc::new(config), server),
            connection: None,
            client,
            download: transfer.download,
            objects: transfer.objects.then(|| Objects::new(client, !transfer.download)),
            stream: None,
            left: to_send,
            finished: false,
            readable: false,
            outbox: VecDeque::new(),
            report: Report::default(),
        }
    }
}

/// A clock for tokens, of which there are none.
struct FixedTime;

impl TimeSource for FixedTime {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

/// One end of one connection.
pub(super) struct QuicEnd {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Box<Connection>)>,
    client: bool,
    download: bool,
    /// Where it carries objects in place of one transfer.
    objects: Option<Objects>,
    stream: Option<StreamId>,
    /// Bytes that are still to be handed in ([`u64::MAX`]: without end).
    left: u64,
    /// Whether all data was handed in.
    finished: bool,
    /// Whether something has come that has not been read.
    readable: bool,
    /// Datagrams that are on their way out: of the endpoint, and of the connection.
    outbox: VecDeque<(Vec<u8>, Mark)>,
    report: Report,
}

impl QuicEnd {
    /// The client begins.
    pub(super) fn connect(&mut self, now: Time, config: ClientConfig) {
        match self.endpoint.connect(instant(now), config, SERVER, NAME) {
            Ok((handle, connection)) => {
                self.connection = Some((handle, Box::new(connection)));
                self.report.phase = Phase::Opening;
            }
            Err(_) => (self.report.phase, self.report.failed) = (Phase::Over, true),
        }
    }

    /// Sends a packet that asks for an acknowledgement.
    pub(super) fn ping(&mut self) {
        if let Some((_, connection)) = &mut self.connection {
            connection.ping();
        }
    }

    /// Sends what a datagram makes the connection send before its endpoint and the application have
    /// their turn, as the driver of quinn does (`ConnectionDriver::poll`).
    fn flush(&mut self, now: Time) {
        let mut datagram = Vec::new();
        while let Some(mark) = self.next(now, &mut datagram) {
            self.outbox.push_back((std::mem::take(&mut datagram), mark));
        }
    }

    /// The next datagram of the connection.
    fn next(&mut self, now: Time, datagram: &mut Vec<u8>) -> Option<Mark> {
        let (_, connection) = self.connection.as_mut()?;
        let sent = proto::transmit(connection, instant(now), datagram)?;
        Some(match sent.ecn {
            None => Mark::None,
            Some(EcnCodepoint::Ect0) => Mark::Ect0,
            Some(EcnCodepoint::Ect1) => Mark::Ect1,
            Some(EcnCodepoint::Ce) => Mark::Ce,
        })
    }

    /// Hands events of the connection to its endpoint, and back.
    fn exchange(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        if connection.is_drained() {
            self.report.phase = Phase::Over;
            self.connection = None;
        }
    }

    /// What the connection has to tell.
    fn hear(&mut self) {
        let Some((_, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll() {
            if let (Event::Stream(event), Some(objects)) = (&event, &mut self.objects) {
                objects.hear(event, connection);
                continue;
            }
            match event {
                Event::Connected => self.report.phase = Phase::Open,
                Event::ConnectionLost { reason } => {
                    let closed = matches!(reason, ConnectionError::ApplicationClosed(_));
                    self.report.failed |= !closed && !self.report.complete;
                    self.report.phase = Phase::Closing;
                }
                Event::Stream(StreamEvent::Opened { .. } | StreamEvent::Readable { .. }) => {
                    self.readable = true;
                }
                Event::Stream(StreamEvent::Finished { .. }) => {
                    // of a download's client it was the request alone
                    self.report.complete |= !(self.client && self.download);
                }
                _ => {}
            }
        }
    }

    /// What the application wants of objects.
    fn carry_out(&mut self, order: Order) {
        let Some((_, connection)) = &mut self.connection else { return };
        let Some(objects) = &mut self.objects else { return };
        match order {
            Order::Ask(request) => objects.send(request.into(), connection),
            Order::Send(bytes) => objects.send(bytes, connection),
            Order::Answer(number, bytes) => objects.answer(number, bytes, connection),
            _ => {}
        }
        self.report.delivered = objects.delivered;
        self.report.complete = objects.is_idle();
    }

    /// The stream of the transfer, if there is one yet.
    fn find_stream(&mut self) {
        let Some((_, connection)) = &mut self.connection else { return };
        if self.objects.is_some() {
            return;
        }
        if self.stream.is_some() || self.report.phase != Phase::Open {
            return;
        }
        let direction = if self.download { Dir::Bi } else { Dir::Uni };
        let mut streams = connection.streams();
        self.stream = if self.client { streams.open(direction) } else { streams.accept(direction) };
    }

    /// Reads what has come.
    fn read(&mut self) {
        let Some((_, connection)) = &mut self.connection else { return };
        let Some(stream) = self.stream.filter(|_| std::mem::take(&mut self.readable)) else {
            return;
        };
        // only an upload's client hears nothing; what comes to a download's server is a request
        if self.client && !self.download {
            return;
        }
        let data = self.client == self.download;
        let mut stream = connection.recv_stream(stream);
        let Ok(mut chunks) = stream.read(true) else { return };
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) if data => self.report.delivered += chunk.bytes.len() as u64,
                Ok(Some(_)) => {}
                Ok(None) => {
                    self.report.complete |= data;
                    break;
                }
                Err(ReadError::Blocked | ReadError::Reset(_)) => break,
            }
        }
        let _ = chunks.finalize();
    }

    /// Hands in as much as the stack takes.
    fn write(&mut self) {
        let Some((_, connection)) = &mut self.connection else { return };
        let Some(stream) = self.stream.filter(|_| !self.finished) else { return };
        if !self.client && !self.download || self.report.phase != Phase::Open {
            return;
        }
        let mut stream = connection.send_stream(stream);
        while self.left > 0 {
            let length = self.left.min(ZEROS.len() as u64) as usize;
            let data = Bytes::from_static(&ZEROS[..length]);
            let Some(written) = proto::write(&mut stream, data) else { return };
            if self.left != u64::MAX {
                self.left -= written as u64;
            }
        }
        self.finished = stream.finish().is_ok();
    }

    fn close(&mut self, now: Time, code: u32) {
        if let Some((_, connection)) = &mut self.connection {
            connection.close(instant(now), VarInt::from_u32(code), Bytes::new());
            self.report.phase = Phase::Closing;
        }
    }

    /// What can be read off the connection.
    fn read_connection(&mut self) {
        let Some((_, connection)) = &mut self.connection else { return };
        if self.report.phase == Phase::Open {
            self.report.window = proto::window(connection);
            let srtt = proto::srtt(connection);
            self.report.srtt = srtt.map(|srtt| Time::from_ns(srtt.as_nanos() as u64));
        }
        self.report.lost = proto::lost(connection) as u32;
    }
}

impl Host for QuicEnd {
    fn receive(&mut self, now: Time, datagram: &[u8], mark: Mark) {
        let codepoint = match mark {
            Mark::None => None,
            Mark::Ect0 => Some(EcnCodepoint::Ect0),
            Mark::Ect1 => Some(EcnCodepoint::Ect1),
            Mark::Ce => Some(EcnCodepoint::Ce),
        };
        let remote = if self.client { SERVER } else { CLIENT };
        let (at, bytes, mut answer) = (instant(now), BytesMut::from(datagram), Vec::new());
        let event = proto::handle(&mut self.endpoint, at, remote, codepoint, bytes, &mut answer);
        match event {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => match &mut self.connection {
                Some((own, connection)) if *own == handle => connection.handle_event(event),
                _ => {}
            },
            // one connection is all that this end is for
            Some(DatagramEvent::NewConnection(incoming)) if self.report.phase != Phase::Waiting => {
                self.endpoint.ignore(incoming);
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                match self.endpoint.accept(incoming, at, &mut answer, None) {
                    Ok((handle, connection)) => {
                        self.connection = Some((handle, Box::new(connection)));
                        self.report.phase = Phase::Opening;
                    }
                    Err(refused) if refused.response.is_some() => {
                        self.outbox.push_back((answer, Mark::None));
                    }
                    Err(_) => {}
                }
            }
            Some(DatagramEvent::Response(_)) => self.outbox.push_back((answer, Mark::None)),
            None => {}
        }
        self.flush(now);
        self.exchange();
    }

    fn transmit(&mut self, now: Time, datagram: &mut Vec<u8>) -> Option<Mark> {
        if let Some((first, mark)) = self.outbox.pop_front() {
            datagram.extend_from_slice(&first);
            return Some(mark);
        }
        self.next(now, datagram)
    }

    fn wake(&mut self) -> Time {
        let due = self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout());
        due.map_or(Time::NEVER, time)
    }

    fn slack(&self) -> Time {
        if self.client { Time::ZERO } else { SLACK }
    }

    fn poll(&mut self, now: Time, order: Order) -> Report {
        let at = instant(now);
        if let Some((_, connection)) = &mut self.connection
            && connection.poll_timeout().is_some_and(|due| due <= at)
        {
            connection.handle_timeout(at);
        }
        self.hear();
        self.exchange();
        self.find_stream();
        self.read();
        if order == Order::Stop && self.left == u64::MAX {
            self.left = 0;
        }
        self.write();
        self.carry_out(order);
        let open = self.report.phase == Phase::Open;
        let done = self.client && self.report.complete && self.objects.is_none();
        if order == Order::Abort && matches!(self.report.phase, Phase::Opening | Phase::Open) {
            self.close(now, 1);
        } else if open && (done || order == Order::Close) {
            self.close(now, 0);
        }
        self.read_connection();
        self.report
    }

    fn carries_objects(&self) -> bool {
        true
    }

    fn heard(&mut self) -> Option<Heard> {
        self.objects.as_mut().and_then(Objects::heard)
    }
}
