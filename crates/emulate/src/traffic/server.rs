//! The server: receives and sends data, and records what it sent.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use rustix::net::sockopt::set_tcp_congestion;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::LocalSet;
use tokio::time::{Instant, timeout};

use super::record::Sent;
use super::request::Request;
use super::room::Room;
use super::socket::{drain, end_data, info, read_byte, read_exact, write_all, write_zeros};
use tidegate_common::fail::{At, Failure};
use tidegate_model::control::TcpControl;

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 16_384;
/// Records that are kept; the oldest run is removed first.
const MOST_RECORDS: usize = 4_000_000;
/// Longest wait for a request.
const PATIENCE: Duration = Duration::from_secs(300);
/// The receiver's last byte, once it has all data. It closes `LINGER` later, so
/// that the sender can read the kernel's counts of the connection.
pub(super) const HAVE_ALL: u8 = b'K';
/// See `HAVE_ALL`.
pub(super) const LINGER: Duration = Duration::from_millis(200);
/// The records, by run and flow.
#[derive(Default)]
struct Book {
    runs: Vec<(u64, BTreeMap<u32, Sent>)>,
    kept: usize,
}

impl Book {
    fn record(&mut self, run: u64, flow: u32, sent: Sent) {
        let place = self.runs.iter().position(|(known, _)| *known == run).unwrap_or_else(|| {
            self.runs.push((run, BTreeMap::new()));
            self.runs.len() - 1
        });
        self.kept += usize::from(self.runs[place].1.insert(flow, sent).is_none());
        if self.kept > MOST_RECORDS {
            self.kept -= self.runs.remove(0).1.len();
        }
    }

    fn of(&self, run: u64) -> Vec<(u32, Sent)> {
        let found = self.runs.iter().find(|(known, _)| *known == run);
        found.map_or_else(Vec::new, |(_, sent)| {
            sent.iter().map(|(flow, sent)| (*flow, *sent)).collect()
        })
    }
}

/// Shared by all sessions.
#[derive(Default)]
struct Shared {
    book: RefCell<Book>,
    /// Downloads under way, by run and flow.
    active: RefCell<BTreeMap<(u64, u32), Rc<TcpStream>>>,
}

/// Listens there.
///
/// A connection begins with the control of its listener. Where that one paces, as the default of a
/// machine may, the connection stays paced whatever control it is given later. Reno does not pace,
/// and every kernel has it.
fn listen(at: SocketAddr) -> io::Result<TcpListener> {
    let socket = if at.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    set_tcp_congestion(&socket, TcpControl::Reno.name())?;
    socket.set_reuseaddr(true)?;
    socket.bind(at)?;
    socket.listen(BACKLOG)
}

/// Serves until the process ends.
///
/// # Errors
/// The address cannot be bound, or this machine has no room for a session.
pub async fn serve(at: SocketAddr) -> Result<(), Failure> {
    let listener = listen(at).at(at)?;
    let shared = Rc::new(Shared::default());
    eprintln!("tidegated: serving at {at}");
    let room = Rc::new(Room::default());
    let accept = async {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    let (shared, room) = (shared.clone(), room.clone());
                    tokio::task::spawn_local(async move {
                        // a client that is gone concerns this session alone
                        let _ = room.judge(session(stream, &shared).await);
                    });
                }
                // the client is gone
                Err(error) => _ = room.judge::<()>(Err(error)),
            }
        }
    };
    LocalSet::new()
        .run_until(async {
            tokio::select! {
                failure = room.none(at) => Err(failure),
                () = accept => Ok(()),
            }
        })
        .await
}

async fn session(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let accepted = Instant::now();
    let Ok(asked) = timeout(PATIENCE, request(&stream)).await else { return Ok(()) };
    match asked? {
        Request::Upload => {
            drain(&stream).await?;
            write_all(&stream, &[HAVE_ALL]).await?;
            tokio::time::sleep(LINGER).await;
            Ok(())
        }
        Request::Download { run, flow, size, control } => {
            let stream = Rc::new(stream);
            shared.active.borrow_mut().insert((run, flow), stream.clone());
            let given = give(&stream, size, control).await;
            shared.active.borrow_mut().remove(&(run, flow));
            let sent = sent(&stream, given.is_ok().then(|| accepted.elapsed()))?;
            shared.book.borrow_mut().record(run, flow, sent);
            given
        }
        Request::Records { run } => {
            // downloads that go on have sent data too
            for (&(_, flow), stream) in shared.active.borrow().range((run, 0)..=(run, u32::MAX)) {
                shared.book.borrow_mut().record(run, flow, sent(stream, None)?);
            }
            let records = shared.book.borrow().of(run);
            write_all(&stream, &serde_json::to_vec(&records).map_err(io::Error::other)?).await
        }
    }
}

async fn request(stream: &TcpStream) -> io::Result<Request> {
    let wrong = || io::Error::new(io::ErrorKind::InvalidData, "no request");
    let mut bytes = vec![read_byte(stream).await?];
    bytes.resize(Request::length(bytes[0]).ok_or_else(wrong)?, 0);
    read_exact(stream, &mut bytes[1..]).await?;
    Request::decode(&bytes).ok_or_else(wrong)
}

/// Sends the bytes and a FIN, and waits for the answer.
async fn give(stream: &TcpStream, size: Option<u64>, control: TcpControl) -> io::Result<()> {
    set_tcp_congestion(stream, control.name())?;
    write_zeros(stream, size).await?;
    end_data(stream)?;
    read_byte(stream).await.map(drop)
}

/// What was sent to a client, who may have reset the connection meanwhile.
fn sent(stream: &TcpStream, closed: Option<Duration>) -> io::Result<Sent> {
    let info = info(stream)?;
    Ok(Sent {
        packets: info.data_sent,
        again: info.data_again,
        timeouts: info.timeouts,
        closed_after: closed.map(|span| span.as_secs_f64()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // tcp_create_openreq_child: a connection begins with the control of its listener, and
    // bbr_init leaves it paced for ever. The default of a machine may be BBR.
    #[test]
    fn a_connection_begins_with_a_control_that_does_not_pace() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let begun = runtime.expect("a runtime").block_on(async {
            let listener = listen(SocketAddr::from(([127, 0, 0, 1], 0)))?;
            let _near = TcpStream::connect(listener.local_addr()?).await?;
            let (far, _) = listener.accept().await?;
            io::Result::Ok(rustix::net::sockopt::tcp_congestion(&far)?)
        });
        assert_eq!(begun.expect("the loopback is there"), "reno");
    }

    // A user reads 200000 bytes of a download and gives up. They were sent in four segments at
    // least, as one has 65535 bytes at most.
    #[test]
    fn what_was_sent_to_a_user_who_gives_up_is_counted() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let (given, sent) = runtime
            .expect("a runtime")
            .block_on(async {
                let listener = listen(SocketAddr::from(([127, 0, 0, 1], 0)))?;
                let near = TcpStream::connect(listener.local_addr()?).await?;
                let far = listener.accept().await?.0;
                let shared = Shared::default();
                let size = Some(100_000_000);
                let asked = Request::Download { run: 7, flow: 0, size, control: TcpControl::Reno };
                write_all(&near, &asked.encode()).await?;
                let user = async {
                    read_exact(&near, &mut vec![0; 200_000]).await?;
                    socket2::SockRef::from(&near).set_linger(Some(Duration::ZERO))?;
                    drop(near);
                    io::Result::Ok(())
                };
                let (given, read) = tokio::join!(session(far, &shared), user);
                read?;
                io::Result::Ok((given, shared.book.borrow().of(7)))
            })
            .expect("the loopback is there");
        assert!(given.is_err(), "it was reset");
        let [(0, sent)] = sent[..] else { panic!("one download, not {sent:?}") };
        assert!(sent.packets >= 4 && sent.closed_after.is_none(), "{sent:?}");
    }
}
