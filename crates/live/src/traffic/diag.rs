//! What the kernel says of a TCP connection, by its socket diagnosis
//! (sock_diag(7), linux/inet_diag.h and linux/tcp.h).

use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};

/// `AF_NETLINK` and `NETLINK_SOCK_DIAG`.
const NETLINK: i32 = 16;
const SOCK_DIAG: i32 = 4;
/// `SOCK_DIAG_BY_FAMILY`, and `NLMSG_ERROR` for an answer.
const BY_FAMILY: u16 = 20;
const ERROR: u16 = 2;
/// `NLM_F_REQUEST`.
const REQUEST: u16 = 1;
/// `INET_DIAG_INFO`, as an extension that is asked for and as the attribute that answers.
const INFO: u16 = 2;
/// `IPPROTO_TCP`, `AF_INET`, `AF_INET6`.
const TCP: u8 = 6;
const INET: u8 = 2;
const INET6: u8 = 10;
/// Bytes of a netlink header, and of `inet_diag_msg` behind it.
const HEADER: usize = 16;
const MESSAGE: usize = 72;

/// Of `tcp_info`, what a table of flows can use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Info {
    /// Smoothed round trip.
    pub rtt: Duration,
    /// Segments sent again since the first SYN, FINs and SYNs among them.
    pub retransmitted: u32,
    /// Segments with payload sent, those sent again included.
    pub data_sent: u32,
    /// Segments with payload sent again; an older kernel cannot tell them from the others.
    pub data_again: u32,
    /// Expiries of the retransmission timer since the first SYN; older kernels do not say.
    pub timeouts: u32,
    /// Bytes that the other end has acknowledged.
    pub acknowledged: u64,
    /// Bytes received in order.
    pub received: u64,
}

/// A socket that asks the kernel, in the network namespace of the process.
pub struct Diag {
    socket: Socket,
    sequence: u32,
}

impl Diag {
    /// Opens it.
    ///
    /// # Errors
    /// The kernel has no socket diagnosis.
    pub fn open() -> io::Result<Diag> {
        let (domain, protocol) = (Domain::from(NETLINK), Protocol::from(SOCK_DIAG));
        let socket = Socket::new(domain, Type::DGRAM, Some(protocol))?;
        socket.set_read_timeout(Some(Duration::from_secs(1)))?;
        Ok(Diag { socket, sequence: 0 })
    }

    /// What is known of the connection between these ends; none: it is no more.
    pub fn of(&mut self, local: SocketAddr, remote: SocketAddr) -> Option<Info> {
        self.sequence = self.sequence.wrapping_add(1);
        let request = request(local, remote, self.sequence);
        self.socket.send(&request).ok()?;
        let mut answer = [0; 4096];
        loop {
            let length = (&self.socket).read(&mut answer).ok()?;
            match read(&answer[..length], self.sequence) {
                Answer::Other => {}
                Answer::Nothing => return None,
                Answer::Info(info) => return Some(info),
            }
        }
    }
}

/// One message: a netlink header, then `inet_diag_req_v2`.
fn request(local: SocketAddr, remote: SocketAddr, sequence: u32) -> Vec<u8> {
    let family = if local.is_ipv4() { INET } else { INET6 };
    let mut bytes = Vec::with_capacity(HEADER + 56);
    bytes.extend((HEADER as u32 + 56).to_ne_bytes());
    bytes.extend(BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST.to_ne_bytes());
    bytes.extend(sequence.to_ne_bytes());
    bytes.extend([0; 4]);
    bytes.extend([family, TCP, 1 << (INFO - 1), 0]);
    // every state
    bytes.extend(u32::MAX.to_ne_bytes());
    bytes.extend(local.port().to_be_bytes());
    bytes.extend(remote.port().to_be_bytes());
    for address in [local.ip(), remote.ip()] {
        let mut place = [0; 16];
        match address {
            IpAddr::V4(address) => place[..4].copy_from_slice(&address.octets()),
            IpAddr::V6(address) => place = address.octets(),
        }
        bytes.extend(place);
    }
    // any interface, and no cookie
    bytes.extend([0; 4]);
    bytes.extend([0xff; 8]);
    bytes
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    /// To another question.
    Other,
    /// There is no such connection.
    Nothing,
    Info(Info),
}

/// The answer to a question.
fn read(bytes: &[u8], sequence: u32) -> Answer {
    let (Some(kind), Some(to)) = (u16_at(bytes, 4), u32_at(bytes, 8)) else {
        return Answer::Nothing;
    };
    if to != sequence {
        return Answer::Other;
    }
    let length = u32_at(bytes, 0).map_or(0, |length| length as usize).min(bytes.len());
    if kind == ERROR || kind != BY_FAMILY {
        return Answer::Nothing;
    }
    let mut rest = bytes.get(HEADER + MESSAGE..length).unwrap_or_default();
    while let (Some(length), Some(kind)) = (u16_at(rest, 0), u16_at(rest, 2)) {
        let length = usize::from(length);
        let Some(value) = rest.get(4..length) else { break };
        if kind == INFO {
            return Answer::Info(info(value));
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Answer::Nothing
}

/// `struct tcp_info`, whose fields keep their places; what an older kernel does
/// not have is zero.
fn info(bytes: &[u8]) -> Info {
    let retransmitted = u32_at(bytes, 100).unwrap_or(0);
    let data_sent = u32_at(bytes, 156).unwrap_or(0);
    Info {
        rtt: Duration::from_micros(u32_at(bytes, 68).unwrap_or(0).into()),
        retransmitted,
        acknowledged: u64_at(bytes, 120).unwrap_or(0),
        received: u64_at(bytes, 128).unwrap_or(0),
        data_sent,
        data_again: data_again(bytes, data_sent).map_or(retransmitted, |of| of.min(retransmitted)),
        timeouts: u16_at(bytes, TOTAL_RTO).unwrap_or(0).into(),
    }
}

/// The kernel counts segments with payload, but of those sent again only all, or their bytes. What
/// was sent once fills whole segments.
fn data_again(bytes: &[u8], data_sent: u32) -> Option<u32> {
    let (sent, again) = (u64_at(bytes, BYTES_SENT)?, u64_at(bytes, BYTES_SENT + 8)?);
    if again == 0 {
        return Some(0);
    }
    let segment = u32_at(bytes, SND_MSS).filter(|size| *size > 0)?;
    let once = u32::try_from(sent.checked_sub(again)?.div_ceil(segment.into())).ok()?;
    Some(data_sent.saturating_sub(once))
}

/// Where `tcpi_snd_mss` lies, and where `tcpi_bytes_sent` with `tcpi_bytes_retrans` behind it.
const SND_MSS: usize = 16;
const BYTES_SENT: usize = 200;

/// Where `tcpi_total_rto` lies.
const TOTAL_RTO: usize = 240;

fn at<const N: usize>(bytes: &[u8], place: usize) -> Option<[u8; N]> {
    bytes.get(place..)?.first_chunk().copied()
}

fn u16_at(bytes: &[u8], place: usize) -> Option<u16> {
    at(bytes, place).map(u16::from_ne_bytes)
}

fn u32_at(bytes: &[u8], place: usize) -> Option<u32> {
    at(bytes, place).map(u32::from_ne_bytes)
}

fn u64_at(bytes: &[u8], place: usize) -> Option<u64> {
    at(bytes, place).map(u64::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    use proptest::prelude::*;

    use super::*;

    // What this very kernel says: nothing sent again on the loopback, and the bytes that were sent.
    #[test]
    fn a_connection_of_our_own_is_found() {
        let Ok(mut diag) = Diag::open() else { return };
        let listener = TcpListener::bind("127.0.0.1:0").expect("the loopback is there");
        let there = listener.local_addr().expect("it is bound");
        let mut near = TcpStream::connect(there).expect("somebody listens");
        let (mut far, _) = listener.accept().expect("somebody connects");
        near.write_all(&[7; 1000]).expect("it is open");
        far.read_exact(&mut [0; 1000]).expect("it was sent");
        let ends = (near.local_addr().expect("it is bound"), there);
        // a kernel without the diagnosis says nothing of any connection
        let Some(info) = diag.of(ends.0, ends.1) else { return };
        assert_eq!((info.retransmitted, info.timeouts, info.data_sent), (0, 0, 1));
        assert!(info.rtt > Duration::ZERO);
        let other = diag.of(ends.1, ends.0).expect("the other end is here too");
        assert_eq!(other.received, 1000);
        assert_eq!(diag.of(ends.0, "127.0.0.1:1".parse().expect("an address")), None);
    }

    // linux/tcp.h: the round trip is the 16th number of 32 bits behind 8 bytes, the count of what was
    // sent again the 24th.
    #[test]
    fn the_fields_have_their_places() {
        let mut bytes = vec![0; 248];
        bytes[8 + 15 * 4..][..4].copy_from_slice(&40_000u32.to_ne_bytes());
        bytes[8 + 23 * 4..][..4].copy_from_slice(&3u32.to_ne_bytes());
        let found = info(&bytes);
        assert_eq!((found.rtt, found.retransmitted), (Duration::from_millis(40), 3));
        assert_eq!(info(&bytes[..100]).retransmitted, 0, "an older kernel");
    }

    // By hand: 10000 bytes in segments of 1448 are seven. Nine segments with payload were sent, of
    // 12896 bytes, so two again, and of the three that were sent again one was a FIN.
    #[test]
    fn a_fin_sent_again_is_no_data() {
        let mut bytes = vec![0; 248];
        bytes[16..20].copy_from_slice(&1448u32.to_ne_bytes());
        bytes[100..104].copy_from_slice(&3u32.to_ne_bytes());
        bytes[156..160].copy_from_slice(&9u32.to_ne_bytes());
        bytes[200..208].copy_from_slice(&12_896u64.to_ne_bytes());
        bytes[208..216].copy_from_slice(&2896u64.to_ne_bytes());
        assert_eq!((info(&bytes).retransmitted, info(&bytes).data_again), (3, 2));
        assert_eq!(info(&bytes[..200]).data_again, 3, "an older kernel");
        bytes[208..216].copy_from_slice(&0u64.to_ne_bytes());
        assert_eq!(info(&bytes).data_again, 0);
    }

    proptest! {
        #[test]
        fn no_answer_breaks_it(mut bytes in prop::collection::vec(any::<u8>(), 0..400), known: bool) {
            if known && bytes.len() > HEADER {
                bytes[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
                bytes[8..12].copy_from_slice(&5u32.to_ne_bytes());
            }
            let _ = read(&bytes, 5);
        }
    }
}
