//! A netlink socket: one request, and the answers to it.

use std::io;
use std::time::Duration;

use netlink_packet_core::{
    NLM_F_DUMP, NLM_F_REQUEST, NetlinkDeserializable, NetlinkHeader, NetlinkMessage,
    NetlinkPayload, NetlinkSerializable,
};
use netlink_sys::{Socket, SocketAddr};
use socket2::SockRef;

/// Longest wait for an answer of the kernel.
const PATIENCE: Duration = Duration::from_secs(2);

/// A socket to the kernel, in the network namespace of the process.
pub struct Netlink {
    socket: Socket,
    sequence: u32,
}

impl Netlink {
    /// Opens the socket for a protocol, as `NETLINK_ROUTE`.
    ///
    /// # Errors
    /// The kernel does not have the protocol.
    pub fn open(protocol: isize) -> io::Result<Netlink> {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        SockRef::from(&socket).set_read_timeout(Some(PATIENCE))?;
        Ok(Netlink { socket, sequence: 0 })
    }

    /// Sends one request and returns the answers to it.
    ///
    /// # Errors
    /// The kernel refuses the request, or does not answer.
    pub fn ask<M: NetlinkSerializable + NetlinkDeserializable>(
        &mut self,
        message: M,
        flags: u16,
    ) -> io::Result<Vec<M>> {
        self.sequence = self.sequence.wrapping_add(1);
        let mut request =
            NetlinkMessage::new(NetlinkHeader::default(), NetlinkPayload::InnerMessage(message));
        request.header.flags = NLM_F_REQUEST | flags;
        request.header.sequence_number = self.sequence;
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        let mut found = Vec::new();
        loop {
            let (bytes, _) = self.socket.recv_from_full()?;
            if self.take(&bytes, flags & NLM_F_DUMP != 0, &mut found)? {
                return Ok(found);
            }
        }
    }

    /// Receives one datagram of answers; returns whether it was the last.
    fn take<M: NetlinkDeserializable>(
        &self,
        mut bytes: &[u8],
        many: bool,
        found: &mut Vec<M>,
    ) -> io::Result<bool> {
        while !bytes.is_empty() {
            let answer = NetlinkMessage::<M>::deserialize(bytes)
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
            let length = (answer.header.length as usize).next_multiple_of(4);
            bytes = bytes.get(length.max(4)..).unwrap_or_default();
            if answer.header.sequence_number != self.sequence {
                continue;
            }
            match answer.payload {
                NetlinkPayload::Done(_) => return Ok(true),
                NetlinkPayload::Error(error) => {
                    return error.code.map_or(Ok(true), |_| Err(error.to_io()));
                }
                NetlinkPayload::InnerMessage(inner) => found.push(inner),
                _ => {}
            }
            if !many && !found.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
