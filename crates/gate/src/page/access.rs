//! Who may open the page: no other site's script, and nobody without the token.
//!
//! A script of another site runs in the operator's browser, and so on a machine that reaches the
//! page. It may send what it likes there, and where a name of its own leads to the page's address
//! (DNS rebinding) it may also read. Its questions have the other site's name in `Host`, or in
//! `Origin` (RFC 9110, 7.2; RFC 6454, 7), which a script cannot change. The token is sent in a
//! header by the page's own script alone, never by the browser of its own accord as a cookie is.

use std::net::IpAddr;

use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, StatusCode, Uri};
use rustix::rand::{GetRandomFlags, getrandom};
use subtle::ConstantTimeEq;
use tidegate_common::fail::{At, Failure};

/// A secret of 128 bits, in hexadecimal digits; anew at each start.
#[derive(Clone)]
pub struct Token(String);

// so that no message shows it by chance
impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// Draws a token.
    ///
    /// # Errors
    /// The kernel has no random bytes.
    pub fn draw() -> Result<Token, Failure> {
        let mut bytes = [0; 16];
        // up to 256 bytes come at once: getrandom(2)
        getrandom(&mut bytes, GetRandomFlags::empty()).at("the token of the page")?;
        Ok(Token(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Its digits.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether a question has the token: `Authorization: Bearer TOKEN` (RFC 6750, 2.1). How long
    /// the comparison takes tells nothing of the digits.
    pub fn is_in(&self, headers: &HeaderMap) -> bool {
        let said = only(headers, AUTHORIZATION).and_then(|text| text.strip_prefix("Bearer "));
        said.is_some_and(|said| said.as_bytes().ct_eq(self.0.as_bytes()).into())
    }
}

/// The value of a header that is there once.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut all = headers.get_all(name).iter();
    let value = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(value)
}

/// The names by which the page may be opened: those of this machine alone, and those listed.
#[derive(Clone, Debug, Default)]
pub struct Names(Vec<String>);

impl Names {
    /// This machine's own names, and these.
    pub fn with(listed: &[String]) -> Names {
        Names(listed.iter().map(|name| plain(name)).collect())
    }

    /// Whether a question was meant for this page, and comes from it or from no page at all.
    ///
    /// # Errors
    /// What to answer where it was not.
    pub fn admit(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
        let host = only(headers, HOST).unwrap_or_default();
        // the whole address in the first line would count in place of `Host`
        if uri.authority().is_some() || !self.has(host) {
            return Err((
                StatusCode::MISDIRECTED_REQUEST,
                "this name is not among those of the page: see `page_hosts` of the gate's file\n",
            ));
        }
        let same = |origin: &str| {
            let rest = origin.strip_prefix("http://").or(origin.strip_prefix("https://"));
            rest.is_some_and(|rest| rest.eq_ignore_ascii_case(host))
        };
        if headers.contains_key(ORIGIN) && !only(headers, ORIGIN).is_some_and(same) {
            return Err((StatusCode::FORBIDDEN, "another site asks\n"));
        }
        Ok(())
    }

    fn has(&self, host: &str) -> bool {
        let Ok(authority) = host.parse::<Authority>() else { return false };
        // a name before an @ would be read as the host by nobody
        if host.contains('@') {
            return false;
        }
        let name = plain(authority.host());
        let local = name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        local || name == "localhost" || self.0.contains(&name)
    }
}

/// A name as it is compared: in small letters, an IPv6 address without brackets.
fn plain(name: &str) -> String {
    let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(all: &[(HeaderName, &str)]) -> HeaderMap {
        all.iter().map(|(name, value)| (name.clone(), value.parse().expect("a value"))).collect()
    }

    fn admitted(names: &Names, host: &str, origin: Option<&str>) -> Result<(), u16> {
        let mut all = vec![(HOST, host)];
        all.extend(origin.map(|origin| (ORIGIN, origin)));
        let uri = Uri::from_static("/state");
        names.admit(&uri, &headers(&all)).map_err(|(status, _)| status.as_u16())
    }

    // By `ssh -L` the page has another port in the browser than here, so only the name counts.
    #[test]
    fn the_page_is_opened_by_names_of_this_machine() {
        let names = Names::default();
        for host in ["127.0.0.1:9478", "localhost:8000", "LOCALHOST", "[::1]:9478", "127.1.2.3"] {
            assert_eq!(admitted(&names, host, None), Ok(()), "{host}");
        }
        // DNS rebinding: the name is the other site's, whatever address it leads to
        for host in
            ["evil.example:9478", "127.0.0.1.evil.example", "", "192.0.2.1:9478", "a@127.0.0.1"]
        {
            assert_eq!(admitted(&names, host, None), Err(421), "{host}");
        }
        let listed = Names::with(&["Router.lan".to_owned(), "192.0.2.1".to_owned()]);
        for host in ["router.lan:9478", "router.lan.", "192.0.2.1:9478"] {
            assert_eq!(admitted(&listed, host, None), Ok(()), "{host}");
        }
        assert_eq!(admitted(&listed, "other.lan", None), Err(421));
    }

    #[test]
    fn a_question_without_one_name_is_meant_for_nobody() {
        let names = Names::default();
        let state = Uri::from_static("/state");
        let twice = headers(&[(HOST, "localhost"), (HOST, "evil.example")]);
        for all in [HeaderMap::new(), twice] {
            assert!(names.admit(&state, &all).is_err());
        }
        // RFC 9112, 3.2.2: a server takes the host of such a line, whatever `Host` says
        let whole = Uri::from_static("http://evil.example/state");
        assert!(names.admit(&whole, &headers(&[(HOST, "localhost")])).is_err());
    }

    // RFC 6454, 7.1: a browser says which page asks. A page of the same machine at another port is
    // another origin too.
    #[test]
    fn a_page_of_another_origin_is_refused() {
        let names = Names::default();
        let from = |origin| admitted(&names, "127.0.0.1:9478", Some(origin));
        assert_eq!(from("http://127.0.0.1:9478"), Ok(()));
        assert_eq!(from("https://127.0.0.1:9478"), Ok(()), "behind a proxy with TLS");
        for origin in
            ["http://127.0.0.1:8080", "http://evil.example", "null", "", "http://localhost:9478"]
        {
            assert_eq!(from(origin), Err(403), "{origin}");
        }
    }

    #[test]
    fn nothing_but_the_token_is_the_token() {
        let token = Token::draw().expect("the kernel has random bytes");
        let right = format!("Bearer {}", token.text());
        let given = |value: &str| token.is_in(&headers(&[(AUTHORIZATION, value)]));
        assert!(given(&right));
        let (start, last) = right.split_at(right.len() - 1);
        let other = if last == "0" { "1" } else { "0" };
        let wrong = [start.to_owned(), format!("{start}{other}"), right.replace("Bearer ", "")];
        for value in wrong.iter().map(String::as_str).chain(["", "Bearer", "Bearer "]) {
            assert!(!given(value), "{value}");
        }
        assert!(!token.is_in(&HeaderMap::new()));
        let twice = headers(&[(AUTHORIZATION, &right), (AUTHORIZATION, &right)]);
        assert!(!token.is_in(&twice), "two headers are no header");
    }

    // 16 bytes are 32 hexadecimal digits; no two of a thousand draws of 128 bits are alike.
    #[test]
    fn a_token_is_drawn_anew() {
        let draw = || Token::draw().expect("the kernel has random bytes").text().to_owned();
        let all: std::collections::BTreeSet<String> = (0..1_000).map(|_| draw()).collect();
        assert_eq!(all.len(), 1_000);
        assert!(
            all.iter().all(|text| text.len() == 32 && text.bytes().all(|c| c.is_ascii_hexdigit()))
        );
        assert!(!format!("{:?}", Token::draw()).contains(|c: char| c.is_ascii_digit()));
    }
}
