//! Real ends of QUIC (quinn on sockets, TLS 1.3 by rustls), for live measurements.
//!
//! ```text
//! quic-ends serve ADDRESS:PORT CERTIFICATE [CONTROL]
//! quic-ends load  ADDRESS:PORT CERTIFICATE FLOWS.csv OUT.csv PATIENCE_S [CONTROL [PREFIX]]
//! quic-ends page  ADDRESS:PORT CERTIFICATE DOCUMENT SIZE OBJECTS PAGES [CONTROL]
//! ```
//!
//! The server writes its certificate to the file; clients trust that one alone. It answers a
//! request with as many bytes as its first eight bytes say. `load` opens a connection
//! from a socket of its own for each line of FLOWS (`start_s,size_bytes`), downloads that much over
//! it and closes it; `page` loads pages over a connection each: a document, then objects at once,
//! and prints the seconds of each page. CONTROL is `cubic` or `new-reno`. With PREFIX, such as
//! `10.79`, each client of `load` has an address of its own below it.
//!
//! quinn is set up as in the simulator: datagrams of 1472 B, no search for a larger size.

mod client;
mod setup;

use std::error::Error;
use std::fs;
use std::net::SocketAddr;
use std::time::Duration;

use client::{Pages, load, pages};
use setup::{client_config, server_config};

type Failed = Box<dyn Error + Send + Sync>;

const USAGE: &str = "usage: quic-ends serve|load|page ADDRESS:PORT CERTIFICATE ... (src/main.rs)";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let done = runtime.map_err(Failed::from).and_then(|runtime| runtime.block_on(run(&words)));
    if let Err(failed) = done {
        eprintln!("quic-ends: {failed}");
        std::process::exit(1);
    }
}

async fn run(words: &[&str]) -> Result<(), Failed> {
    match words {
        ["serve", at, certificate, rest @ ..] => {
            serve(at.parse()?, certificate, control(rest)?).await
        }
        ["load", to, certificate, flows, out, patience, rest @ ..] => {
            let config = client_config(&fs::read(certificate)?, control(rest)?)?;
            let patience = Duration::from_secs_f64(patience.parse()?);
            let flows = read_flows(&fs::read_to_string(flows)?)?;
            let prefix = rest.get(1).copied();
            let rows = load(to.parse()?, &config, &flows, patience, prefix).await?;
            Ok(fs::write(out, rows)?)
        }
        ["page", to, certificate, document, size, objects, count, rest @ ..] => {
            let config = client_config(&fs::read(certificate)?, control(rest)?)?;
            let plan = Pages {
                document: document.parse()?,
                size: size.parse()?,
                objects: objects.parse()?,
                count: count.parse()?,
            };
            pages(address(to)?, &config, &plan).await
        }
        _ => Err(USAGE.into()),
    }
}

/// An address; `OUTSIDE:PORT` is that of the other side of `tidegated emulate`.
fn address(text: &str) -> Result<SocketAddr, Failed> {
    let outside = std::env::var("TIDEGATE_OUTSIDE").unwrap_or_default();
    Ok(text.replace("OUTSIDE", &outside).parse()?)
}

fn control<'a>(rest: &[&'a str]) -> Result<&'a str, Failed> {
    match rest.first().copied().unwrap_or("cubic") {
        known @ ("cubic" | "new-reno") => Ok(known),
        other => Err(format!("`{other}` is no control: write cubic or new-reno").into()),
    }
}

/// Starts in seconds and sizes in bytes.
fn read_flows(text: &str) -> Result<Vec<(f64, u64)>, Failed> {
    let flow = |line: &str| {
        let (start, size) = line.split_once(',').ok_or("a line has no comma")?;
        Ok((start.trim().parse()?, size.trim().parse()?))
    };
    text.lines().skip(1).map(flow).collect()
}

async fn serve(at: SocketAddr, certificate: &str, control: &str) -> Result<(), Failed> {
    let (config, own) = server_config(control)?;
    fs::write(certificate, own)?;
    let endpoint = quinn::Endpoint::server(config, at)?;
    eprintln!("serving {}", endpoint.local_addr()?);
    while let Some(incoming) = endpoint.accept().await {
        tokio::spawn(async move {
            let Ok(connection) = incoming.await else { return };
            while let Ok((send, receive)) = connection.accept_bi().await {
                tokio::spawn(answer(send, receive));
            }
        });
    }
    Ok(())
}

/// Answers one request.
async fn answer(mut send: quinn::SendStream, mut receive: quinn::RecvStream) -> Result<(), Failed> {
    let request = receive.read_to_end(1 << 16).await?;
    let size = request.first_chunk::<8>().ok_or("a request is too short")?;
    let mut left = u64::from_be_bytes(*size);
    let zeros = [0; 1 << 16];
    while left > 0 {
        let part = left.min(zeros.len() as u64) as usize;
        send.write_all(&zeros[..part]).await?;
        left -= part as u64;
    }
    Ok(send.finish()?)
}
