//! The kernel's counts of a TCP connection, by its socket diagnosis
//! (sock_diag(7), linux/inet_diag.h and linux/tcp.h).

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use netlink_packet_sock_diag::inet::nlas::Nla;
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, SocketId, StateFlags};
use netlink_packet_sock_diag::{AF_INET, AF_INET6, IPPROTO_TCP, SockDiagMessage};
use netlink_sys::protocols::NETLINK_SOCK_DIAG;

use tidegate_common::netlink::Netlink;

/// The fields of `tcp_info` that the table of flows uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Info {
    /// Smoothed round trip.
    pub rtt: Duration,
    /// Retransmitted segments since the first SYN, with SYNs and FINs.
    pub retransmitted: u32,
    /// Segments with payload sent, with retransmissions.
    pub data_sent: u32,
    /// Retransmitted segments with payload; an older kernel counts all retransmitted segments.
    pub data_again: u32,
    /// Expiries of the retransmission timer since the first SYN; zero on older kernels.
    pub timeouts: u32,
    /// Bytes that the other end has acknowledged.
    pub acknowledged: u64,
    /// Bytes received in order.
    pub received: u64,
}

/// Asks the kernel about connections, in the network namespace of the process.
pub struct Diag {
    kernel: Netlink,
}

impl Diag {
    /// Opens the socket.
    ///
    /// # Errors
    /// The kernel has no socket diagnosis.
    pub fn open() -> io::Result<Diag> {
        Ok(Diag { kernel: Netlink::open(NETLINK_SOCK_DIAG)? })
    }

    /// The counts of the connection between these ends; none: there is no such connection.
    pub fn of(&mut self, local: SocketAddr, remote: SocketAddr) -> Option<Info> {
        let request = InetRequest {
            family: if local.is_ipv4() { AF_INET } else { AF_INET6 },
            protocol: IPPROTO_TCP,
            extensions: ExtensionFlags::INFO,
            states: StateFlags::all(),
            socket_id: SocketId {
                source_port: local.port(),
                destination_port: remote.port(),
                source_address: local.ip(),
                destination_address: remote.ip(),
                // any interface, and no cookie
                interface_id: 0,
                cookie: [0xff; 8],
            },
        };
        let answers = self.kernel.ask(SockDiagMessage::InetRequest(request), 0).ok()?;
        let Some(SockDiagMessage::InetResponse(answer)) = answers.into_iter().next() else {
            return None;
        };
        answer.nlas.iter().find_map(|attribute| match attribute {
            Nla::TcpInfo(bytes) => Some(info(bytes)),
            _ => None,
        })
    }
}

/// Reads `struct tcp_info`, whose fields keep their offsets; a field that an older kernel does not
/// have is zero.
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

/// Retransmitted segments with payload. The kernel counts all retransmitted segments, and the
/// retransmitted bytes; this assumes full segments for the first transmissions.
fn data_again(bytes: &[u8], data_sent: u32) -> Option<u32> {
    let (sent, again) = (u64_at(bytes, BYTES_SENT)?, u64_at(bytes, BYTES_SENT + 8)?);
    if again == 0 {
        return Some(0);
    }
    let segment = u32_at(bytes, SND_MSS).filter(|size| *size > 0)?;
    let once = u32::try_from(sent.checked_sub(again)?.div_ceil(segment.into())).ok()?;
    Some(data_sent.saturating_sub(once))
}

/// Offset of `tcpi_snd_mss`, and of `tcpi_bytes_sent` with `tcpi_bytes_retrans` after it.
const SND_MSS: usize = 16;
const BYTES_SENT: usize = 200;

/// Offset of `tcpi_total_rto`.
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
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use proptest::prelude::*;

    use super::*;

    // The running kernel: no retransmissions on the loopback, and the bytes that were sent.
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
        // a kernel without socket diagnosis reports no connections
        let Some(info) = diag.of(ends.0, ends.1) else { return };
        assert_eq!((info.retransmitted, info.timeouts, info.data_sent), (0, 0, 1));
        assert!(info.rtt > Duration::ZERO);
        let other = diag.of(ends.1, ends.0).expect("the other end is here too");
        assert_eq!(other.received, 1000);
        assert_eq!(diag.of(ends.0, "127.0.0.1:1".parse().expect("an address")), None);
    }

    // linux/tcp.h: the round trip is the 16th number of 32 bits after 8 bytes, the count of
    // retransmissions the 24th.
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
    // 12896 bytes, so two are retransmissions, and of the three retransmitted segments one was a
    // FIN.
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
        // an older kernel may report less than this one
        #[test]
        fn no_length_breaks_it(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = info(&bytes);
        }
    }
}
