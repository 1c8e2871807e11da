//! smoltcp, a stack of TCP for small devices.
//!
//! Each end has an interface and one socket. Datagrams are TCP segments: the header of IP, which
//! says nothing that differs, is taken off and put back. The simulator counts the headers of IP and
//! UDP on top of them, so a packet counts 8 bytes too many. The end that sends the data closes the
//! connection behind it. Buffers hold [`BUFFER`] bytes at either end; everything else is as smoltcp
//! sets it: no window scale but what the buffers need, SACK and timestamps as it negotiates them.
//!
//! smoltcp tells neither its window nor what it sends again. Segments sent again are counted by
//! their sequence numbers.

use std::collections::VecDeque;

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{ChecksumCapabilities, Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer, State};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};
use tidegate_core::host::{Ends, Host, Mark, Order, Phase, Report, Stack, Transfer};
use tidegate_core::units::Time;
use tidegate_model::scenario::QuicControl;

use crate::draws::Draws;

/// Bytes of the buffers of either end.
const BUFFER: usize = 512 << 10;
/// The header of IPv4 without options, and that of TCP.
const IP: usize = 20;
const TCP: usize = 20;
const ADDRESSES: [[u8; 4]; 2] = [[10, 0, 0, 1], [10, 0, 0, 2]];
/// Not such as the first byte of a long header of QUIC would be.
const PORTS: [u16; 2] = [10_000, 80];
static ZEROS: [u8; 1 << 14] = [0; 1 << 14];

/// Connections of smoltcp with this control, whose packets are this long at most, headers of IP and
/// UDP not counted.
pub fn stack(control: QuicControl, datagram: u16) -> Stack {
    let control = match control {
        QuicControl::Cubic => CongestionControl::Cubic,
        QuicControl::NewReno => CongestionControl::Reno,
    };
    Box::new(move |transfer| {
        let mut draws = Draws::new(transfer.seed);
        let [client, server] = [true, false]
            .map(|client| SmoltcpEnd::new(client, control, datagram, transfer, draws.next()));
        Ends { client: Box::new(client), server: Box::new(server) }
    })
}

fn instant(now: Time) -> Instant {
    Instant::from_micros((now.ps() / 1_000_000) as i64)
}

/// What has come and has not been read, and what is to be sent.
struct Wire {
    mtu: usize,
    come: VecDeque<Vec<u8>>,
    leaving: VecDeque<Vec<u8>>,
}

struct Came(Vec<u8>);

impl RxToken for Came {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

struct Leaving<'a>(&'a mut VecDeque<Vec<u8>>);

impl TxToken for Leaving<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        let mut packet = vec![0; length];
        let written = write(&mut packet);
        self.0.push_back(packet);
        written
    }
}

impl Device for Wire {
    type RxToken<'a> = Came;
    type TxToken<'a> = Leaving<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Came, Leaving<'_>)> {
        let came = self.come.pop_front()?;
        Some((Came(came), Leaving(&mut self.leaving)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Leaving<'_>> {
        Some(Leaving(&mut self.leaving))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut found = DeviceCapabilities::default();
        found.medium = Medium::Ip;
        found.max_transmission_unit = self.mtu;
        found.checksum = ChecksumCapabilities::ignored();
        found
    }
}

/// One end of one connection.
struct SmoltcpEnd {
    wire: Wire,
    interface: Interface,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
    client: bool,
    /// Whether it sends the data.
    sends: bool,
    /// Bytes that are still to be handed in ([`u64::MAX`]: without end).
    left: u64,
    /// When it had its turn last.
    at: Instant,
    /// Behind the highest byte sent, as the segments say it.
    highest: Option<u32>,
    report: Report,
}

impl SmoltcpEnd {
    fn new(
        client: bool,
        control: CongestionControl,
        datagram: u16,
        transfer: &Transfer,
        seed: u64,
    ) -> SmoltcpEnd {
        let mtu = usize::from(datagram) + IP;
        let mut wire = Wire { mtu, come: VecDeque::new(), leaving: VecDeque::new() };
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = seed;
        let start = instant(transfer.start);
        let mut interface = Interface::new(config, &mut wire, start);
        let own = ADDRESSES[usize::from(!client)];
        interface.update_ip_addrs(|addresses| {
            // there is room for one
            let _ = addresses.push(IpCidr::new(IpAddress::Ipv4(own.into()), 24));
        });
        let buffer = || SocketBuffer::new(vec![0; BUFFER]);
        let mut socket = Socket::new(buffer(), buffer());
        socket.set_congestion_control(control);
        let mut report = Report::default();
        let opened = if client {
            report.phase = Phase::Opening;
            let server = (IpAddress::Ipv4(ADDRESSES[1].into()), PORTS[1]);
            socket.connect(interface.context(), server, PORTS[0]).is_ok()
        } else {
            socket.listen(PORTS[1]).is_ok()
        };
        report.failed = !opened;
        let mut sockets = SocketSet::new(Vec::new());
        let socket = sockets.add(socket);
        let sends = client != transfer.download;
        let left = if sends { transfer.size.unwrap_or(u64::MAX) } else { 0 };
        let (at, highest) = (start, None);
        SmoltcpEnd { wire, interface, sockets, socket, client, sends, left, at, highest, report }
    }

    /// Reads what has come, and hands in as much as the stack takes.
    fn carry(&mut self) {
        let socket = self.sockets.get_mut::<Socket<'_>>(self.socket);
        while socket.can_recv()
            && let Ok(length) = socket.recv(|data| (data.len(), data.len()))
        {
            self.report.delivered += length as u64;
        }
        while self.sends && self.left > 0 && socket.can_send() {
            let length = self.left.min(ZEROS.len() as u64) as usize;
            let Ok(taken) = socket.send_slice(&ZEROS[..length]) else { return };
            if self.left != u64::MAX {
                self.left -= taken as u64;
            }
        }
        let open = socket.state() == State::Established;
        if self.sends && self.left == 0 && open {
            socket.close();
        }
        // all has come that the other end sends
        if !self.sends && socket.state() == State::CloseWait {
            self.report.complete = true;
            socket.close();
        }
    }

    fn read_socket(&mut self) {
        let before = self.report.phase;
        let state = self.sockets.get::<Socket<'_>>(self.socket).state();
        let behind = matches!(state, State::FinWait2 | State::TimeWait);
        self.report.complete |= self.sends && behind;
        self.report.phase = match state {
            State::Listen => Phase::Waiting,
            State::SynSent | State::SynReceived => Phase::Opening,
            State::Established | State::FinWait1 | State::CloseWait => Phase::Open,
            State::FinWait2 | State::Closing | State::LastAck | State::TimeWait => Phase::Closing,
            State::Closed => Phase::Over,
        };
        self.report.failed |= self.report.phase == Phase::Over
            && !matches!(before, Phase::Waiting | Phase::Over)
            && !self.report.complete;
    }

    /// Counts a segment with data that was sent before.
    fn count(&mut self, segment: &[u8]) {
        let (Some(&[one, two, three, four]), Some(&offset)) =
            (segment[4..].first_chunk::<4>(), segment.get(12))
        else {
            return;
        };
        let length = segment.len().saturating_sub(usize::from(offset >> 4) * 4);
        if length == 0 {
            return;
        }
        let start = u32::from_be_bytes([one, two, three, four]);
        let end = start.wrapping_add(length as u32);
        let ahead = self.highest.is_none_or(|highest| end.wrapping_sub(highest) as i32 > 0);
        match ahead {
            true => self.highest = Some(end),
            false => self.report.lost += 1,
        }
    }
}

impl Host for SmoltcpEnd {
    fn receive(&mut self, _: Time, segment: &[u8], _: Mark) {
        let length = (segment.len() + IP) as u16;
        let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 6, 0, 0];
        packet[2..4].copy_from_slice(&length.to_be_bytes());
        let own = usize::from(!self.client);
        packet.extend(ADDRESSES[1 - own]);
        packet.extend(ADDRESSES[own]);
        packet.extend(segment);
        self.wire.come.push_back(packet);
    }

    fn transmit(&mut self, _: Time, datagram: &mut Vec<u8>) -> Option<Mark> {
        let packet = self.wire.leaving.pop_front()?;
        let segment = packet.get(IP..).filter(|segment| segment.len() >= TCP)?;
        self.count(segment);
        datagram.extend_from_slice(segment);
        Some(Mark::None)
    }

    fn wake(&mut self) -> Time {
        match self.interface.poll_at(self.at, &self.sockets) {
            Some(due) => Time::from_ns(u64::try_from(due.total_micros()).unwrap_or(0) * 1_000),
            None => Time::NEVER,
        }
    }

    fn poll(&mut self, now: Time, order: Order) -> Report {
        let at = instant(now);
        self.at = at;
        self.interface.poll(at, &mut self.wire, &mut self.sockets);
        if order == Order::Stop && self.left == u64::MAX {
            self.left = 0;
        }
        if order == Order::Abort {
            self.sockets.get_mut::<Socket<'_>>(self.socket).abort();
        }
        self.carry();
        self.interface.poll(at, &mut self.wire, &mut self.sockets);
        self.read_socket();
        self.report
    }
}
