//! The first bytes of a session: the client's request to the server.
//!
//! | byte  | upload       | download                      | records       |
//! |-------|--------------|-------------------------------|---------------|
//! | 0     | `U`          | `D`                           | `R`           |
//! | 1-8   | data follows | run, by which records are kept | run           |
//! | 9-12  |              | number of the flow            |               |
//! | 13-20 |              | bytes asked for; all ones: no end |           |
//! | 21    |              | congestion control, from 1    |               |
//!
//! So an upload of one byte is one byte on the wire. Numbers are big-endian.

use tidegate_model::control::TcpControl;

/// A request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Request {
    /// Data follows, until the end.
    Upload,
    /// The server sends data.
    Download {
        /// The run that it belongs to.
        run: u64,
        /// The number of the flow in the run.
        flow: u32,
        /// Size in bytes; none: unlimited.
        size: Option<u64>,
        /// Congestion control of the server.
        control: TcpControl,
    },
    /// The records of a run.
    Records {
        /// The run.
        run: u64,
    },
}

/// Largest download, bytes.
const MOST: u64 = tidegate_model::draw::MAX_FLOW;

impl Request {
    /// The first byte of an upload, which counts as data.
    pub const UPLOAD: u8 = b'U';

    /// Length of a request with this first byte; none: not a request.
    pub fn length(first: u8) -> Option<usize> {
        match first {
            Request::UPLOAD => Some(1),
            b'D' => Some(22),
            b'R' => Some(9),
            _ => None,
        }
    }

    /// Encodes the request.
    pub fn encode(self) -> Vec<u8> {
        match self {
            Request::Upload => vec![Request::UPLOAD],
            Request::Download { run, flow, size, control } => {
                let size = size.unwrap_or(u64::MAX).to_be_bytes();
                let head = [&b"D"[..], &run.to_be_bytes(), &flow.to_be_bytes(), &size];
                [&head.concat()[..], &[control as u8 + 1]].concat()
            }
            Request::Records { run } => [&b"R"[..], &run.to_be_bytes()].concat(),
        }
    }

    /// Decodes a request; none: not a request.
    pub fn decode(bytes: &[u8]) -> Option<Request> {
        let (&first, rest) = bytes.split_first()?;
        if bytes.len() != Request::length(first)? {
            return None;
        }
        if first == Request::UPLOAD {
            return Some(Request::Upload);
        }
        let (run, rest) = rest.split_first_chunk()?;
        let run = u64::from_be_bytes(*run);
        if first == b'R' {
            return Some(Request::Records { run });
        }
        let (flow, rest) = rest.split_first_chunk()?;
        let (size, rest) = rest.split_first_chunk()?;
        let size = match u64::from_be_bytes(*size) {
            u64::MAX => None,
            size if size <= MOST => Some(size),
            _ => return None,
        };
        let number = usize::from(*rest.first()?);
        let control = *TcpControl::ALL.get(number.checked_sub(1)?)?;
        Some(Request::Download { run, flow: u32::from_be_bytes(*flow), size, control })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // The table above, byte by byte.
    #[test]
    fn a_download_is_written_as_the_table_says() {
        let asked =
            Request::Download { run: 1, flow: 2, size: Some(3), control: TcpControl::Cubic };
        let bytes = asked.encode();
        assert_eq!(bytes[0], b'D');
        assert_eq!((bytes[8], bytes[12], bytes[20], bytes[21]), (1, 2, 3, 2));
        assert_eq!(Request::decode(&bytes), Some(asked));
        assert_eq!(Request::Upload.encode(), b"U");
        assert_eq!(Request::decode(&bytes[..21]), None, "cut off");
        assert_eq!(Request::decode(b"X"), None);
    }

    proptest! {
        // any input is handled, and a decoded request encodes to the same bytes
        #[test]
        fn what_is_read_is_what_was_written(
            first in prop::sample::select(&b"UDRX"[..]),
            rest in prop::collection::vec(any::<u8>(), 0..30),
        ) {
            let bytes = [&[first][..], &rest].concat();
            if let Some(request) = Request::decode(&bytes) {
                prop_assert_eq!(request.encode(), bytes);
            }
        }
    }
}
