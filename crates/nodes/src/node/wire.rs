//! The socket of a node, read and written in batches.
//!
//! One system call reads many datagrams (recvmmsg). If the system supports it, datagrams of one
//! length to one neighbour are sent and received as one (UDP segmentation and receive offload).
//! Callers send and receive single datagrams.

use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, SocketAddrV4};

use quinn_udp::{RecvMeta, Transmit, UdpSocketState};
use socket2::{Domain, Socket, Type};
use tidegate_core::active::Address;
use tokio::io::Interest;
use tokio::net::UdpSocket;

/// Requested size of the socket buffer in bytes; the system may grant less.
const SOCKET_BUFFER: usize = 4 << 20;
/// Reads in a batch, each with as much as the system combines.
const READS: usize = 16;
/// Bytes per read: the most that the system combines.
const READ: usize = 1 << 16;
/// Bytes sent as one: what fits an IPv4 packet after its headers.
const MOST_TOGETHER: usize = 65_507;

/// A socket with its buffers.
pub struct Wire {
    socket: UdpSocket,
    state: UdpSocketState,
    inbox: Vec<u8>,
    outbox: Outbox,
}

/// Datagrams of one length to one neighbour, not sent yet; the last one may be shorter.
#[derive(Default)]
struct Outbox {
    bytes: Vec<u8>,
    to: Address,
    length: usize,
    count: usize,
    /// Whether the last one is shorter: then no other may follow.
    closed: bool,
}

impl Outbox {
    fn takes(&self, to: Address, length: usize, most: usize) -> bool {
        !self.closed
            && self.to == to
            && (1..=self.length).contains(&length)
            && self.count < most
            && self.bytes.len() + length <= MOST_TOGETHER
    }

    fn add(&mut self, to: Address, bytes: &[u8]) {
        if self.count == 0 {
            (self.to, self.length) = (to, bytes.len());
        }
        self.closed = bytes.len() < self.length || bytes.is_empty();
        self.bytes.extend_from_slice(bytes);
        self.count += 1;
    }

    fn clear(&mut self) {
        self.bytes.clear();
        (self.count, self.closed) = (0, false);
    }
}

impl Wire {
    /// The socket at an address; another process on the same address is an error.
    ///
    /// # Errors
    /// The address is in use, or no socket is available.
    pub fn bind(address: Address) -> io::Result<Wire> {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
        // a smaller buffer is sufficient: the queues that matter are those of the links
        let _ = socket.set_recv_buffer_size(SOCKET_BUFFER);
        let _ = socket.set_send_buffer_size(SOCKET_BUFFER);
        socket.set_nonblocking(true)?;
        socket.bind(&place(address).into())?;
        let state = UdpSocketState::new((&socket).into())?;
        let socket = UdpSocket::from_std(socket.into())?;
        Ok(Wire { socket, state, inbox: vec![0; READS * READ], outbox: Outbox::default() })
    }

    /// Waits until there is something to read.
    ///
    /// # Errors
    /// The socket failed.
    pub async fn readable(&self) -> io::Result<()> {
        self.socket.readable().await
    }

    /// Reads one batch, and passes on each datagram with the address of its sender (none: not an
    /// IPv4 address). Returns false if there was nothing.
    pub fn read(&mut self, mut receive: impl FnMut(Option<Address>, &[u8])) -> bool {
        let mut metas = [RecvMeta::default(); READS];
        let mut parts = self.inbox.chunks_mut(READ).map(IoSliceMut::new);
        let mut slices: [IoSliceMut<'_>; READS] =
            std::array::from_fn(|_| parts.next().unwrap_or_else(|| IoSliceMut::new(&mut [])));
        let (socket, state) = (&self.socket, &self.state);
        let read = socket
            .try_io(Interest::READABLE, || state.recv(socket.into(), &mut slices, &mut metas));
        // an ICMP error about an earlier datagram to an unreachable neighbour
        let Ok(count) = read else { return false };
        for (meta, bytes) in metas.iter().zip(self.inbox.chunks(READ)).take(count) {
            let from = match meta.addr {
                SocketAddr::V4(at) => Some(Address { ip: at.ip().octets(), port: at.port() }),
                SocketAddr::V6(_) => None,
            };
            // an empty datagram counts as well
            if meta.len == 0 {
                receive(from, &[]);
            }
            for datagram in bytes[..meta.len].chunks(meta.stride.max(1)) {
                receive(from, datagram);
            }
        }
        count > 0
    }

    /// Buffers a datagram; sends the buffered ones first if it cannot be combined with them.
    /// Returns how many could not be sent.
    pub fn put(&mut self, to: Address, bytes: &[u8]) -> usize {
        let most = self.state.max_gso_segments();
        let failed = match self.outbox.count > 0 && !self.outbox.takes(to, bytes.len(), most) {
            true => self.flush(),
            false => 0,
        };
        self.outbox.add(to, bytes);
        failed
    }

    /// Sends the buffered datagrams. Returns how many could not be sent.
    pub fn flush(&mut self) -> usize {
        let Outbox { bytes, to, length, count, .. } = &self.outbox;
        let (count, length) = (*count, (*length).max(1));
        let failed = match count {
            0 => 0,
            1 => usize::from(self.send(*to, bytes, None).is_err()),
            _ if self.send(*to, bytes, Some(length)).is_ok() => 0,
            // the system does not support segmentation after all
            _ => bytes.chunks(length).filter(|each| self.send(*to, each, None).is_err()).count(),
        };
        self.outbox.clear();
        failed
    }

    fn send(&self, to: Address, contents: &[u8], segment_size: Option<usize>) -> io::Result<()> {
        let destination = SocketAddr::from(place(to));
        let transmit = Transmit { destination, ecn: None, contents, segment_size, src_ip: None };
        // do not wait for a full socket: the datagrams are lost, and counted
        let once = || self.state.try_send((&self.socket).into(), &transmit);
        match once() {
            // the error may belong to an earlier datagram: try once more
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => once(),
            sent => sent,
        }
    }
}

fn place(address: Address) -> SocketAddrV4 {
    SocketAddrV4::new(address.ip.into(), address.port)
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket as Plain;

    use super::*;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
    }

    fn free() -> (Plain, Address) {
        let socket = Plain::bind("127.0.0.1:0").expect("a port");
        let port = socket.local_addr().expect("it has one").port();
        (socket, Address { ip: [127, 0, 0, 1], port })
    }

    // Whatever goes out together comes in one by one, in order, whole, to the one that it is for.
    #[test]
    fn datagrams_stay_single() {
        let runtime = runtime();
        let _inside = runtime.enter();
        let (held, at) = free();
        drop(held);
        let mut wire = Wire::bind(at).expect("it is free");
        let ((one, to_one), (other, to_other)) = (free(), free());
        let lengths = [500, 500, 500, 300, 500, 0, 1, 1_472, 1_472, 7];
        let bytes = |i: usize| vec![i as u8; lengths[i]];
        for i in 0..lengths.len() {
            let to = if i == 6 { to_other } else { to_one };
            assert_eq!(wire.put(to, &bytes(i)), 0);
        }
        assert_eq!(wire.flush(), 0);
        let mut buffer = [0; 2_048];
        for i in (0..lengths.len()).filter(|i| *i != 6) {
            let length = one.recv(&mut buffer).expect("it came");
            assert_eq!(buffer[..length], bytes(i), "{i}");
        }
        assert_eq!(other.recv(&mut buffer).expect("it came"), 1);
    }

    // The same the other way: what is read is what was sent, with its sender.
    #[test]
    fn a_batch_is_read_one_by_one() {
        let runtime = runtime();
        let (held, at) = free();
        drop(held);
        let mut wire = {
            let _inside = runtime.enter();
            Wire::bind(at).expect("it is free")
        };
        let (sender, from) = free();
        for length in [500, 500, 20, 0, 1_472] {
            sender.send_to(&vec![7; length], SocketAddr::from(place(at))).expect("sent");
        }
        let mut lengths = Vec::new();
        runtime.block_on(async {
            while lengths.len() < 5 {
                wire.readable().await.expect("it works");
                while wire.read(|origin, bytes| {
                    assert_eq!(origin, Some(from));
                    lengths.push(bytes.len());
                }) {}
            }
        });
        assert_eq!(lengths, [500, 500, 20, 0, 1_472]);
    }
}
