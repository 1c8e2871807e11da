//! Clients: a crowd of downloads, and pages.

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn::{ClientConfig, Connection, Endpoint, TokioRuntime, VarInt};
use tokio::time::{sleep_until, timeout};

use crate::Failed;
use crate::setup::{NAME, endpoint};

/// Bytes of a request of `load`, as in the simulator, and of one for an object of a page.
const REQUEST: usize = 100;
const PAGE_REQUEST: usize = 400;

/// Pages to be loaded.
pub(crate) struct Pages {
    pub(crate) document: u64,
    pub(crate) size: u64,
    pub(crate) objects: u64,
    pub(crate) count: u64,
}

fn socket(from: IpAddr) -> Result<Endpoint, Failed> {
    let socket = UdpSocket::bind((from, 0))?;
    Ok(Endpoint::new(endpoint(), None, socket, Arc::new(TokioRuntime))?)
}

/// Asks for so many bytes and reads them.
async fn fetch(connection: &Connection, size: u64, request: usize) -> Result<(), Failed> {
    let (mut send, mut receive) = connection.open_bi().await?;
    let mut asked = vec![0; request];
    asked[..8].copy_from_slice(&size.to_be_bytes());
    send.write_all(&asked).await?;
    send.finish()?;
    let mut come = 0;
    while let Some(chunk) = receive.read_chunk(usize::MAX, true).await? {
        come += chunk.bytes.len() as u64;
    }
    if come == size { Ok(()) } else { Err(format!("{come} B came of {size}").into()) }
}

/// What became of a download: seconds from its start; none: it did not happen.
#[derive(Default)]
struct Times {
    connected: Option<f64>,
    done: Option<f64>,
}

async fn download(
    to: SocketAddr,
    config: ClientConfig,
    from: IpAddr,
    size: u64,
    patience: Duration,
) -> Result<Times, Failed> {
    let endpoint = socket(from)?;
    let begun = Instant::now();
    let mut times = Times::default();
    let whole = async {
        let connection = endpoint.connect_with(config, to, NAME)?.await?;
        times.connected = Some(begun.elapsed().as_secs_f64());
        fetch(&connection, size, REQUEST).await?;
        times.done = Some(begun.elapsed().as_secs_f64());
        connection.close(VarInt::from_u32(0), b"");
        Ok::<(), Failed>(())
    };
    // a user who leaves, or a connection that gives up, is a row without times
    let _ = timeout(patience, whole).await;
    endpoint.close(VarInt::from_u32(1), b"");
    let _ = timeout(Duration::from_secs(1), endpoint.wait_idle()).await;
    Ok(times)
}

/// The address of a client below a prefix of two parts.
fn address(prefix: &str, number: usize) -> Result<IpAddr, Failed> {
    let (a, b) = prefix.split_once('.').ok_or("a prefix has two parts, as in 10.79")?;
    let (c, d) = ((1 + number / 250) as u8, (1 + number % 250) as u8);
    Ok(Ipv4Addr::new(a.parse()?, b.parse()?, c, d).into())
}

/// Downloads each flow at its time; the table of what became of them.
pub(crate) async fn load(
    to: SocketAddr,
    config: &ClientConfig,
    flows: &[(f64, u64)],
    patience: Duration,
    prefix: Option<&str>,
) -> Result<String, Failed> {
    let begun = tokio::time::Instant::now();
    let mut running = Vec::new();
    for (number, &(start, size)) in flows.iter().enumerate() {
        let from = match prefix {
            Some(prefix) => address(prefix, number)?,
            None => Ipv4Addr::UNSPECIFIED.into(),
        };
        sleep_until(begun + Duration::from_secs_f64(start)).await;
        running.push(tokio::spawn(download(to, config.clone(), from, size, patience)));
    }
    let mut table = String::from("start_s,size_bytes,connected_s,done_s\n");
    let text = |time: Option<f64>| time.map_or(String::new(), |time| format!("{time:.6}"));
    for (run, &(start, size)) in running.into_iter().zip(flows) {
        let times = run.await??;
        writeln!(table, "{start},{size},{},{}", text(times.connected), text(times.done))?;
    }
    Ok(table)
}

/// Loads pages, each over a connection of its own, and prints their times.
pub(crate) async fn pages(
    to: SocketAddr,
    config: &ClientConfig,
    plan: &Pages,
) -> Result<(), Failed> {
    let endpoint = socket(Ipv4Addr::UNSPECIFIED.into())?;
    for _ in 0..plan.count {
        let begun = Instant::now();
        let connection = endpoint.connect_with(config.clone(), to, NAME)?.await?;
        if plan.document > 0 {
            fetch(&connection, plan.document, PAGE_REQUEST).await?;
        }
        let mut objects = Vec::new();
        for _ in 0..plan.objects {
            let (connection, size) = (connection.clone(), plan.size);
            objects.push(tokio::spawn(async move {
                fetch(&connection, size, PAGE_REQUEST).await
            }));
        }
        for object in objects {
            object.await??;
        }
        println!("{:.6}", begun.elapsed().as_secs_f64());
        connection.close(VarInt::from_u32(0), b"");
        endpoint.wait_idle().await;
    }
    Ok(())
}
