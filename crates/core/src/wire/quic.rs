//! What a router can read of QUIC: whether a datagram is an Initial, and its connection IDs.
//!
//! The header of an Initial is readable in every version that is known here (RFC 9000, 17.2.2; RFC
//! 9369, 3.2). Any other datagram is only known to be no Initial: a short header does not give the
//! length of its connection ID, and the end of a connection is encrypted.

/// Version 1 (RFC 9000) and version 2 (RFC 9369).
const VERSIONS: [(u32, u8); 2] = [(1, 0b00), (0x6b33_43cf, 0b01)];
/// The longest connection ID (RFC 9000, 17.2).
const LONGEST_ID: usize = 20;

/// The header of an Initial.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Initial<'a> {
    /// The ID by which its receiver knows the connection; of the client's first Initials one that
    /// the client has drawn.
    pub destination: &'a [u8],
    /// The ID that its sender has chosen for itself.
    pub source: &'a [u8],
}

impl Initial<'_> {
    /// Reads the payload of a UDP datagram; none: it is no Initial, or not of a known version.
    pub fn read(payload: &[u8]) -> Option<Initial<'_>> {
        let (&first, rest) = payload.split_first()?;
        let (version, rest) = rest.split_first_chunk::<4>()?;
        let version = u32::from_be_bytes(*version);
        let (_, kind) = VERSIONS.iter().find(|(number, _)| *number == version)?;
        // the bit below the form may be either (RFC 9287)
        if first & 0x80 == 0 || (first >> 4) & 0b11 != *kind {
            return None;
        }
        let (destination, rest) = id(rest)?;
        let (source, _) = id(rest)?;
        Some(Initial { destination, source })
    }
}

/// A connection ID behind its length.
fn id(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&length, rest) = bytes.split_first()?;
    let length = usize::from(length);
    if length > LONGEST_ID { None } else { rest.split_at_checked(length) }
}

#[cfg(test)]
mod tests {
    use super::Initial;

    /// The client's Initial of RFC 9001, A.2, and the server's of A.3: the protected headers, as
    /// printed there. The same header with type 1 is a 0-RTT packet in version 1 (RFC 9000, 17.2).
    #[test]
    fn initials_are_told_by_their_long_header() {
        let client =
            [0xc0, 0, 0, 0, 1, 8, 0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08, 0, 0, 0x44, 0x9e];
        let read = Initial::read(&client).expect("an Initial");
        assert_eq!(read.destination, [0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08]);
        assert_eq!(read.source, [0; 0]);
        let server = [0xcf, 0, 0, 0, 1, 0, 8, 0xf0, 0x67, 0xa5, 0x50, 0x2a, 0x42, 0x62, 0xb5, 0];
        assert_eq!(
            Initial::read(&server).map(|read| read.source),
            Some(&[0xf0, 0x67, 0xa5, 0x50, 0x2a, 0x42, 0x62, 0xb5][..])
        );
        let mut other = client;
        other[0] = 0xd0;
        assert_eq!(Initial::read(&other), None);
        // version 2 numbers the types anew: there 1 is the Initial (RFC 9369, 3.2)
        other[1..5].copy_from_slice(&0x6b33_43cf_u32.to_be_bytes());
        assert!(Initial::read(&other).is_some());
        // an unknown version, a short header, a cut one
        other[4] ^= 1;
        assert_eq!(Initial::read(&other), None);
        assert_eq!(Initial::read(&[0x40; 40]), None);
        assert_eq!(Initial::read(&client[..10]), None);
    }

    /// Whatever comes, reading ends without a panic, and IDs are no longer than 20 bytes: every
    /// length byte, at every length of datagram.
    #[test]
    fn no_length_leads_beyond_the_datagram() {
        for length in 0..=u8::MAX {
            let mut bytes = [0xc0, 0, 0, 0, 1, length, 0].to_vec();
            bytes.resize(64, length);
            for end in 0..bytes.len() {
                if let Some(read) = Initial::read(&bytes[..end]) {
                    assert!(read.destination.len() <= 20 && read.source.len() <= 20);
                }
            }
        }
    }
}
