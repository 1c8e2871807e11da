//! Answers HTTP: the metrics and the page.
//!
//! The gate's lease is renewed in the same thread, so those who ask are few and soon done with.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

/// Connections at a time; the others wait in the kernel.
const MOST: usize = 16;
/// How long a connection lasts at most, which is one question and its answer.
const WITHIN: Duration = Duration::from_secs(10);
/// Memory for the head of a question, bytes.
const HEAD: usize = 16 * 1024;
/// Wait after a connection could not be taken, as where files are used up.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// Answers until the program ends.
pub async fn answer(listener: TcpListener, router: Router) {
    let places = Arc::new(Semaphore::new(MOST));
    while let Ok(place) = places.clone().acquire_owned().await {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::debug!("a connection is lost: {error}");
                sleep(TRY_AGAIN).await;
                continue;
            }
        };
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let _place = place;
            let talk = http1::Builder::new()
                .keep_alive(false)
                .max_buf_size(HEAD)
                .serve_connection(TokioIo::new(stream), service);
            // an error means that the other end broke off, or did not speak HTTP
            let _ = timeout(WITHIN, talk).await;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    const QUESTION: &[u8] = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n";

    /// A place where questions are answered, and what answers them.
    async fn place() -> (std::net::SocketAddr, tokio::task::JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("it is bound");
        let router = Router::new().route("/", get(|| async { "yes" }));
        (address, tokio::spawn(answer(listener, router)))
    }

    async fn said(mut stream: TcpStream) -> String {
        let mut text = String::new();
        // one that was cut off says what it has said
        let _ = stream.read_to_string(&mut text).await;
        text
    }

    // HTTP/1.1, RFC 9112, 9.6: a server that ends a connection after an answer says so.
    #[tokio::test]
    async fn a_connection_has_one_answer() {
        let (address, _server) = place().await;
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        stream.write_all(QUESTION).await.expect("it is sent");
        let text = said(stream).await;
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n") && text.ends_with("yes"), "{text}");
        assert!(text.contains("connection: close"), "{text}");
    }

    // 16 that say nothing hold all places; the next is answered when their ten seconds are over.
    #[tokio::test]
    async fn who_says_nothing_holds_a_place_for_a_while_only() {
        let (address, _server) = place().await;
        let mut silent = Vec::new();
        for _ in 0..MOST {
            silent.push(TcpStream::connect(address).await.expect("it listens"));
        }
        let mut late = TcpStream::connect(address).await.expect("the kernel takes it");
        late.write_all(QUESTION).await.expect("it is sent");
        let mut first = [0; 1];
        let early = timeout(Duration::from_secs(1), late.read(&mut first)).await;
        assert!(early.is_err(), "the seventeenth is answered at once");
        assert_eq!(late.read(&mut first).await.expect("an answer"), 1);
        assert_eq!(said(silent.remove(0)).await, "", "one that says nothing is cut off");
    }

    // A head beyond 16 KiB is not kept: RFC 6585, 5.
    #[tokio::test]
    async fn a_long_head_is_refused() {
        let (address, _server) = place().await;
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        let head = format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", "a".repeat(40_000));
        // the server may close before all of it is sent
        let _ = stream.write_all(head.as_bytes()).await;
        let text = said(stream).await;
        assert!(!text.contains("yes"), "{text}");
    }
}
