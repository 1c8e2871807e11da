//! The bytes of a TCP socket, and the kernel's counts of it (tcp(7), `struct tcp_info` of
//! linux/tcp.h).
//!
//! The counts are asked of the socket and not of the kernel's tables of connections: a connection
//! that the other end has reset is in no table any more, and what it has sent would be unknown.

#![expect(unsafe_code, reason = "no crate that is used here reads TCP_INFO")]

use std::cell::RefCell;
use std::io;
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::time::Duration;

use socket2::SockRef;
use tokio::net::TcpStream;

/// The data of one write.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

thread_local! {
    /// Buffer for received data, which is ignored: one for all sessions.
    static SINK: RefCell<Vec<u8>> = RefCell::new(vec![0; 1 << 16]);
}

/// Repeats what would block.
async fn read_by<T>(
    stream: &TcpStream,
    mut once: impl FnMut(&TcpStream) -> io::Result<T>,
) -> io::Result<T> {
    loop {
        match once(stream) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => stream.readable().await?,
            done => return done,
        }
    }
}

/// Reads to the end; the number of bytes.
pub(super) async fn drain(stream: &TcpStream) -> io::Result<u64> {
    let mut bytes = 0;
    loop {
        let once = |stream: &TcpStream| SINK.with_borrow_mut(|sink| stream.try_read(sink));
        match read_by(stream, once).await? {
            0 => return Ok(bytes),
            some => bytes += some as u64,
        }
    }
}

/// Fills `bytes`.
pub(super) async fn read_exact(stream: &TcpStream, bytes: &mut [u8]) -> io::Result<()> {
    let mut have = 0;
    while have < bytes.len() {
        match read_by(stream, |stream| stream.try_read(&mut bytes[have..])).await? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            some => have += some,
        }
    }
    Ok(())
}

/// Reads a byte.
pub(super) async fn read_byte(stream: &TcpStream) -> io::Result<u8> {
    let mut byte = [0];
    read_exact(stream, &mut byte).await?;
    Ok(byte[0])
}

/// Writes these bytes.
pub(super) async fn write_all(stream: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match stream.try_write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => stream.writable().await?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes `size` zeros; none: without end.
pub(super) async fn write_zeros(stream: &TcpStream, size: Option<u64>) -> io::Result<()> {
    let mut left = size.unwrap_or(u64::MAX);
    while left > 0 {
        let piece = usize::try_from(left).unwrap_or(ZEROS.len()).min(ZEROS.len());
        write_all(stream, &ZEROS[..piece]).await?;
        if size.is_some() {
            left -= piece as u64;
        }
    }
    Ok(())
}

/// Says that nothing more will be sent.
pub(super) fn end_data(stream: &TcpStream) -> io::Result<()> {
    SockRef::from(stream).shutdown(Shutdown::Write)
}

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
    /// Bytes received in order; the FIN counts as one.
    pub received: u64,
}

/// The kernel's counts of a connection, which may be over.
///
/// # Errors
/// It is no socket of TCP.
pub fn info(stream: &TcpStream) -> io::Result<Info> {
    let mut bytes = [0_u8; 512];
    let mut length = bytes.len() as libc::socklen_t;
    // SAFETY: the kernel writes no more than `length` bytes, which `bytes` has, and then how many
    // it wrote into `length`; both outlive the call.
    let failed = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            bytes.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if failed != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(read(bytes.get(..length as usize).unwrap_or_default()))
}

/// Reads `struct tcp_info`, whose fields keep their offsets; a field that an older kernel does not
/// have is zero.
fn read(bytes: &[u8]) -> Info {
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
    use proptest::prelude::*;
    use tokio::net::TcpListener;

    use super::*;

    /// A connection over the loopback: who connected, and who accepted.
    async fn pair() -> io::Result<[TcpStream; 2]> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let near = TcpStream::connect(listener.local_addr()?).await?;
        Ok([near, listener.accept().await?.0])
    }

    fn run<T>(what: impl Future<Output = io::Result<T>>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(what).expect("the loopback is there")
    }

    // The running kernel: no retransmissions on the loopback, and the bytes that were sent.
    #[test]
    fn the_kernel_counts_what_was_sent_and_received() {
        let (near, far) = run(async {
            let [near, far] = pair().await?;
            write_all(&near, &[7; 1000]).await?;
            read_exact(&far, &mut [0; 1000]).await?;
            Ok((info(&near)?, info(&far)?))
        });
        assert_eq!((near.retransmitted, near.timeouts, near.data_sent), (0, 0, 1));
        assert!(near.rtt > Duration::ZERO);
        assert_eq!(far.received, 1000);
    }

    // A user who gives up resets the connection, and the kernel then knows it by its socket alone.
    #[test]
    fn a_connection_that_was_reset_keeps_its_counts() {
        let sent = run(async {
            let [near, far] = pair().await?;
            write_all(&far, &[7; 1000]).await?;
            near.readable().await?;
            SockRef::from(&near).set_linger(Some(Duration::ZERO))?;
            drop(near);
            let end = read_byte(&far).await.expect_err("it was reset");
            assert_eq!(end.kind(), io::ErrorKind::ConnectionReset);
            info(&far)
        });
        assert_eq!((sent.data_sent, sent.data_again), (1, 0));
    }

    // linux/tcp.h: the round trip is the 16th number of 32 bits after 8 bytes, the count of
    // retransmissions the 24th.
    #[test]
    fn the_fields_have_their_places() {
        let mut bytes = vec![0; 248];
        bytes[8 + 15 * 4..][..4].copy_from_slice(&40_000u32.to_ne_bytes());
        bytes[8 + 23 * 4..][..4].copy_from_slice(&3u32.to_ne_bytes());
        let found = read(&bytes);
        assert_eq!((found.rtt, found.retransmitted), (Duration::from_millis(40), 3));
        assert_eq!(read(&bytes[..100]).retransmitted, 0, "an older kernel");
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
        assert_eq!((read(&bytes).retransmitted, read(&bytes).data_again), (3, 2));
        assert_eq!(read(&bytes[..200]).data_again, 3, "an older kernel");
        bytes[208..216].copy_from_slice(&0u64.to_ne_bytes());
        assert_eq!(read(&bytes).data_again, 0);
    }

    proptest! {
        // an older kernel may report less than this one
        #[test]
        fn no_length_breaks_it(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = read(&bytes);
        }
    }
}
