//! Where a page is served, and who reaches it.

use std::net::{IpAddr, SocketAddr};

/// Where a page is served, and the names by which other machines may open it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// Where it listens.
    pub address: SocketAddr,
    /// Names and addresses of this machine; none: it alone opens the page.
    pub hosts: Vec<String>,
}

impl Place {
    /// Checks an address, and that others reach it only where that is meant.
    ///
    /// # Errors
    /// It is none, or others reach it and no name says by what.
    pub fn new(address: &str, hosts: &[String]) -> Result<Place, String> {
        let Ok(address) = address.parse::<SocketAddr>() else {
            return Err(format!("`{address}` is no address: write 127.0.0.1:9478"));
        };
        if !address.ip().is_loopback() && hosts.is_empty() {
            return Err(format!(
                "other machines reach {address}, and the page is not encrypted: write 127.0.0.1:{port} and go through `ssh -L {port}:127.0.0.1:{port}`, or name by `page_hosts` what the page may be called",
                port = address.port()
            ));
        }
        if let Some(host) = hosts.iter().find(|host| !is_host(host)) {
            return Err(format!(
                "`page_hosts`: `{host}` is no name of a machine: write router.lan, or an address without port"
            ));
        }
        Ok(Place { address, hosts: hosts.to_vec() })
    }
}

/// Whether that is a name (RFC 1123, 2.1; with the underscore that some networks have) or an address.
fn is_host(text: &str) -> bool {
    let sign = |sign: char| sign.is_ascii_alphanumeric() || "-._".contains(sign);
    text.parse::<IpAddr>().is_ok() || (!text.is_empty() && text.chars().all(sign))
}
