//! Who was refused, and how long each waited: a view by client, where the file asks for it.
//!
//! The program counts the clients of which it heard last, at most [`MOST`] of them. Those that were
//! refused most, or used most, are shown.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

use super::shared::{ClientCounts, ClientKey};

/// Clients that the program counts at most, 72 bytes each in the kernel.
pub const MOST: u32 = 16_384;
/// Clients that are shown.
const SHOWN: usize = 100;

/// A client as it is shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Client {
    /// Its address, or prefix.
    pub address: String,
    /// Openers.
    pub came: u64,
    /// Of these, refused; in observe mode those that would have been.
    pub refused: u64,
    /// Bytes that left to it, or from it in the direction `up`; zero where the file names no direction.
    pub bytes: u64,
    /// Seconds from its first refusals to the admissions after them, in total.
    pub waited_s: f64,
    /// Seconds that it has waited now; null: it does not.
    pub waits_s: Option<f64>,
}

impl ClientKey {
    /// The address, of which so many bits name a client.
    fn address(&self, bits4: u32, bits6: u32) -> String {
        let (address, bits, all) = if self.version == 6 {
            let whole = self.prefix.checked_shl(64 - bits6).unwrap_or(0);
            (IpAddr::V6(Ipv6Addr::from(u128::from(whole) << 64)), bits6, 128)
        } else {
            let whole = (self.prefix as u32).checked_shl(32 - bits4).unwrap_or(0);
            (IpAddr::V4(Ipv4Addr::from(whole)), bits4, 32)
        };
        if bits == all { address.to_string() } else { format!("{address}/{bits}") }
    }
}

/// The clients that were refused most, then those that used most; `now_ns` is the kernel's clock.
pub fn shown(
    all: &[(ClientKey, ClientCounts)],
    (bits4, bits6): (u32, u32),
    now_ns: u64,
) -> Vec<Client> {
    let mut all: Vec<&(ClientKey, ClientCounts)> = all.iter().collect();
    let rank =
        |(_, counts): &(ClientKey, ClientCounts)| (counts.refused, counts.bytes, counts.came);
    all.sort_by_key(|client| std::cmp::Reverse(rank(client)));
    all.truncate(SHOWN);
    let seconds = |ns: u64| ns as f64 / 1e9;
    let client = |(key, counts): &(ClientKey, ClientCounts)| Client {
        address: key.address(bits4, bits6),
        came: counts.came,
        refused: counts.refused,
        bytes: counts.bytes,
        waited_s: seconds(counts.waited_ns),
        waits_s: (counts.since_ns > 0).then(|| seconds(now_ns.saturating_sub(counts.since_ns))),
    };
    all.into_iter().map(client).collect()
}

/// The first of them as lines for people, of a gate with that mode and direction.
pub fn lines(clients: &[Client], mode: &str, direction: &str) -> String {
    let refused = if mode == "observe" { "would have been refused" } else { "refused" };
    let line = |client: &Client| {
        // bytes are counted where the file says whose they are
        let used = match direction {
            "" => String::new(),
            _ => format!(", {:.1} MB", client.bytes as f64 / 1e6),
        };
        let waits = client.waits_s.map_or(String::new(), |s| format!(", waits for {s:.0} s now"));
        // who was never let in has no wait that is over
        let never = client.waited_s == 0.0 && client.waits_s.is_some();
        let waited =
            if never { String::new() } else { format!(", waited {:.1} s", client.waited_s) };
        format!(
            "    {:<24} {} came, {} {refused}{used}{waited}{waits}\n",
            client.address, client.came, client.refused,
        )
    };
    let most = clients.iter().take(10).map(line).collect::<String>();
    if most.is_empty() { most } else { format!("  who\n{most}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(prefix: u64, version: u32) -> ClientKey {
        ClientKey { prefix, version, unused: 0 }
    }

    // 192.0.2.7 is 0xc0000207; of 24 bits 0xc00002 is left. 2001:db8:0:5::/64.
    #[test]
    fn a_client_is_shown_by_its_address_or_prefix() {
        let four = key(0xc000_0207, 4);
        assert_eq!(four.address(32, 64), "192.0.2.7");
        assert_eq!(key(0xc0_0002, 4).address(24, 64), "192.0.2.0/24");
        assert_eq!(key(0x2001_0db8_0000_0005, 6).address(32, 64), "2001:db8:0:5::/64");
    }

    // By hand: who was refused most comes first, of two alike the one that used more. 3 s have passed
    // since the refusal at 2 s, by a clock that is at 5 s.
    #[test]
    fn who_was_refused_most_comes_first() {
        let of = |refused, bytes, since_ns| ClientCounts {
            came: 9,
            refused,
            bytes,
            since_ns,
            ..ClientCounts::default()
        };
        let mut all = vec![
            (key(1, 4), of(2, 10, 0)),
            (key(2, 4), of(7, 10, 2_000_000_000)),
            (key(3, 4), of(2, 90, 0)),
        ];
        let found = shown(&all, (32, 64), 5_000_000_000);
        let names: Vec<&str> = found.iter().map(|client| client.address.as_str()).collect();
        assert_eq!(names, ["0.0.0.2", "0.0.0.3", "0.0.0.1"]);
        assert_eq!((found[0].waits_s, found[1].waits_s), (Some(3.0), None));
        all.extend((10..500).map(|prefix| (key(prefix, 4), of(0, 0, 0))));
        assert_eq!(shown(&all, (32, 64), 0).len(), 100);
        let text = lines(&found, "observe", "");
        assert_eq!(text.lines().count(), 4);
        // nobody is refused by a gate that observes; and without a direction no bytes are counted
        assert!(text.contains("9 came, 7 would have been refused, waits for 3 s"), "{text}");
        assert_eq!(lines(&[], "observe", ""), "");
    }

    // A wait counts as waited when it ends with an admission; until then it is going on.
    #[test]
    fn who_was_never_let_in_has_no_wait_that_is_over() {
        let of =
            |waited_ns, since_ns| ClientCounts { waited_ns, since_ns, ..ClientCounts::default() };
        let one = |counts| shown(&[(key(1, 4), counts)], (32, 64), 5_000_000_000);
        let said = |counts| lines(&one(counts), "enforce", "down");
        assert!(said(of(0, 2_000_000_000)).ends_with("0.0 MB, waits for 3 s now\n"));
        assert!(said(of(1_500_000_000, 2_000_000_000)).contains("waited 1.5 s, waits for 3 s now"));
        assert!(said(of(0, 0)).ends_with("0.0 MB, waited 0.0 s\n"));
    }
}
