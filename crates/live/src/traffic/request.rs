//! The first bytes of a session: the client's request to the server.
//!
//! | byte  | upload       | download                      | records       |
//! |-------|--------------|-------------------------------|---------------|
//! | 0     | `U`          | `D`                           | `R`           |
//! | 1-8   | data follows | run, by which records are kept | run           |
//! | 9-12  |              | number of the flow            |               |
//! | 13-20 |              | bytes asked for; all ones: no end |           |
//! | 21    |              | congestion control            |               |
//!
//! So an upload of one byte has one byte. Numbers begin with the most
//! significant byte.

/// Congestion control of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Control {
    /// Reno (RFC 5681).
    Reno = 1,
    /// CUBIC (RFC 9438).
    Cubic = 2,
    /// BBR, the version that the kernel has.
    Bbr = 3,
}

impl Control {
    /// The kernel's name.
    pub fn name(self) -> &'static str {
        match self {
            Control::Reno => "reno",
            Control::Cubic => "cubic",
            Control::Bbr => "bbr",
        }
    }

    fn of(code: u8) -> Option<Control> {
        [Control::Reno, Control::Cubic, Control::Bbr].into_iter().find(|one| *one as u8 == code)
    }
}

/// A request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Request {
    /// Data follows, until the end.
    Upload,
    /// The server sends data.
    Download {
        /// The run that it belongs to.
        run: u64,
        /// Its number there.
        flow: u32,
        /// Bytes; none: without end.
        size: Option<u64>,
        /// Congestion control of the server.
        control: Control,
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
                [&head.concat()[..], &[control as u8]].concat()
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
        let control = Control::of(*rest.first()?)?;
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
        let asked = Request::Download { run: 1, flow: 2, size: Some(3), control: Control::Cubic };
        let bytes = asked.encode();
        assert_eq!(bytes[0], b'D');
        assert_eq!((bytes[8], bytes[12], bytes[20], bytes[21]), (1, 2, 3, 2));
        assert_eq!(Request::decode(&bytes), Some(asked));
        assert_eq!(Request::Upload.encode(), b"U");
        assert_eq!(Request::decode(&bytes[..21]), None, "cut off");
        assert_eq!(Request::decode(b"X"), None);
    }

    proptest! {
        // whatever comes in, nothing breaks, and what is taken means what it says
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
