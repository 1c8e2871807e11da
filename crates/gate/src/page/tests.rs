//! The page over its socket: who is answered, with what, and what an order does.

use super::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};

/// A page of one gate that obeys each order.
struct Served {
    address: SocketAddr,
    token: String,
    orders: Arc<Mutex<Vec<String>>>,
}

async fn served() -> Served {
    let status = Status { interface: "wan0".to_owned(), ..Status::default() };
    let (board, seen) = watch::channel(status);
    let (sender, mut inbox) = mpsc::channel::<crate::status::Asked>(4);
    let orders = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&orders);
    tokio::spawn(async move {
        let _keep = board;
        while let Some((order, answer)) = inbox.recv().await {
            heard.lock().expect("nobody panicked").push(order.to_string());
            let _ = answer.send(Ok(format!("wan0: {order}")));
        }
    });
    // a port that is free now is free a moment later, but for bad luck
    let free = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = free.local_addr().expect("it is bound");
    drop(free);
    let mut pages = Pages::default();
    let place = Place::new(&address.to_string(), &[]).expect("it is loopback");
    pages.show(&place, std::path::Path::new("/run/a.sock"), (seen, sender));
    let links = pages.serve().await.expect("it can be served");
    let link = &links[std::path::Path::new("/run/a.sock")];
    let start = format!("http://{address}/#");
    let token = link.strip_prefix(&start).expect("a link with a token").to_owned();
    Served { address, token, orders }
}

impl Served {
    /// What is answered to these lines.
    async fn said(&self, lines: &str) -> String {
        let mut stream = TcpStream::connect(self.address).await.expect("it listens");
        let all = lines.replace("HOST", &self.address.to_string()).replace("TOKEN", &self.token);
        stream.write_all(all.as_bytes()).await.expect("it is sent");
        let mut text = String::new();
        stream.read_to_string(&mut text).await.expect("an answer");
        text
    }

    async fn get(&self, path: &str) -> String {
        let ask = "HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer TOKEN\r\n\r\n";
        self.said(&format!("GET {path} {ask}")).await
    }

    async fn post(&self, path: &str, more: &str, body: &str) -> String {
        let length = body.len();
        self.said(&format!(
            "POST {path} HTTP/1.1\r\nHost: HOST\r\nContent-Length: {length}\r\n{more}\r\n{body}"
        ))
        .await
    }
}

fn code(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

const WITH_TOKEN: &str = "Authorization: Bearer TOKEN\r\n";

#[test]
fn others_reach_the_page_only_where_that_is_meant() {
    let names = ["router.lan".to_owned()];
    for address in ["127.0.0.1:9478", "[::1]:9478", "127.8.8.8:1"] {
        assert!(Place::new(address, &[]).is_ok(), "{address}");
    }
    for address in ["0.0.0.0:9478", "192.0.2.1:9478", "[::]:9478", "[2001:db8::1]:9478"] {
        let refused = Place::new(address, &[]).expect_err("others reach it");
        assert!(refused.contains("not encrypted") && refused.contains("ssh -L 9478"), "{refused}");
        assert!(Place::new(address, &names).is_ok(), "{address}");
    }
    for address in ["", "9478", "localhost:9478", "127.0.0.1", "127.0.0.1:70000"] {
        assert!(Place::new(address, &[]).is_err(), "{address}");
    }
}

// Everything that tells something of the gate, or does something, takes the token.
#[tokio::test]
async fn who_has_no_token_learns_nothing() {
    let page = served().await;
    for path in ["/state", "/hour"] {
        assert_eq!(code(&page.get(path).await), "200", "{path}");
        let without = page.said(&format!("GET {path} HTTP/1.1\r\nHost: HOST\r\n\r\n")).await;
        assert_eq!(code(&without), "401", "{path}");
        assert!(!without.contains("wan0"), "{without}");
    }
    for wrong in ["", "Authorization: Bearer 00\r\n", "Cookie: token=TOKEN\r\n"] {
        assert_eq!(code(&page.post("/order/0", wrong, "revert").await), "401", "{wrong}");
    }
    assert!(page.orders.lock().expect("nobody panicked").is_empty());
    for path in ["/", "/page.css", "/page.js", "/charts.js"] {
        let shell = page.said(&format!("GET {path} HTTP/1.1\r\nHost: HOST\r\n\r\n")).await;
        assert_eq!(code(&shell), "200", "{path}");
        assert!(!shell.contains(&page.token) && !shell.contains("wan0"), "{path}");
    }
    assert_eq!(code(&page.get("/etc/passwd").await), "404");
}

#[tokio::test]
async fn an_order_is_that_of_the_socket() {
    let page = served().await;
    for (order, answer) in [
        ("enforce 600000", "wan0: enforce 600000"),
        ("confirm", "wan0: confirm"),
        ("revert", "wan0: revert"),
    ] {
        let said = page.post("/order/0", WITH_TOKEN, order).await;
        assert_eq!((code(&said), said.ends_with(answer)), ("200", true), "{said}");
    }
    let obeyed = ["enforce 600000", "confirm", "revert"];
    assert_eq!(*page.orders.lock().expect("nobody panicked"), obeyed);
    let unknown = page.post("/order/0", WITH_TOKEN, "shutdown").await;
    assert!(unknown.ends_with("`shutdown` is no order of a gate"), "{unknown}");
    assert_eq!(code(&page.post("/order/7", WITH_TOKEN, "revert").await), "404");
    assert_eq!(code(&page.get("/order/0").await), "405", "a link that is followed orders nothing");
    let long = format!("revert{}", " ".repeat(200));
    assert_eq!(code(&page.post("/order/0", WITH_TOKEN, &long).await), "413");
    assert_eq!(page.orders.lock().expect("nobody panicked").len(), 3);
}

// A tab that was closed while the gate hung: who closed it does not expect that it refuses later.
#[tokio::test]
async fn an_order_whose_giver_is_gone_is_not_obeyed() {
    let page = served().await;
    let mut gone = TcpStream::connect(page.address).await.expect("it listens");
    let ask = format!(
        "POST /order/0 HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Length: 14\r\n\r\nenforce 600000",
        page.address, page.token
    );
    gone.write_all(ask.as_bytes()).await.expect("it is sent");
    drop(gone);
    assert_eq!(code(&page.post("/order/0", WITH_TOKEN, "revert").await), "200");
    assert_eq!(*page.orders.lock().expect("nobody panicked"), ["revert"]);
}

// Another site's page cannot ask, even if it knew the token, and is refused before that is looked at.
#[tokio::test]
async fn another_site_is_refused() {
    let page = served().await;
    let foreign = "Origin: http://evil.example\r\n".to_owned();
    for more in [foreign.clone(), foreign + WITH_TOKEN] {
        assert_eq!(code(&page.post("/order/0", &more, "revert").await), "403");
    }
    for path in ["/", "/page.js", "/state"] {
        let lines = "HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer TOKEN\r\n\r\n";
        let rebound = page.said(&format!("GET {path} {lines}")).await;
        assert_eq!(code(&rebound), "421", "{path}");
    }
    assert!(page.orders.lock().expect("nobody panicked").is_empty());
}

// What a browser is told of each answer, one that refuses too: CSP 3, Fetch (CORP, nosniff).
#[tokio::test]
async fn every_answer_says_what_a_browser_may_do_with_it() {
    let page = served().await;
    let rebound = page.said("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n").await;
    for answer in [page.get("/").await, page.get("/state").await, page.get("/none").await, rebound]
    {
        for line in [
            "content-security-policy: default-src 'none'; script-src 'self';",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(answer.contains(line), "`{line}` is not in\n{answer}");
        }
        assert!(!answer.contains("access-control-allow"), "{answer}");
    }
}

// The page is made of its own files: nothing that it loads is elsewhere.
#[test]
fn nothing_is_loaded_from_elsewhere() {
    let files = [
        include_str!("index.html"),
        include_str!("page.css"),
        include_str!("page.js"),
        include_str!("charts.js"),
    ];
    for file in files {
        // a namespace of SVG is a name, and is not loaded
        let file = file.replace("http://www.w3.org/2000/svg", "");
        for word in ["http:", "https:", "//cdn", "@import", "url(", "innerHTML", "eval("] {
            assert!(!file.contains(word), "{word}");
        }
    }
}

#[tokio::test]
async fn an_address_that_is_taken_is_said() {
    let taken = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = taken.local_addr().expect("it is bound").to_string();
    let (_board, seen) = watch::channel(Status::default());
    let (sender, _inbox) = mpsc::channel(1);
    let mut pages = Pages::default();
    let place = Place::new(&address, &[]).expect("it is loopback");
    pages.show(&place, std::path::Path::new("/run/a.sock"), (seen, sender));
    let failure = pages.serve().await.expect_err("it is taken").to_string();
    assert!(failure.contains(&address) && failure.contains("another program"), "{failure}");
}
