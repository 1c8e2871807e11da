//! Where the hosts of a class come from.

use rand::Rng as _;
use tidegate_core::host::{Ends, Stack, Transfer};
use tidegate_core::units::Time;
use tidegate_model::draw::Pcg64;
use tidegate_model::scenario::{Class, End, Quic};

use crate::app::is_driven;
use crate::error::BuildError;
use crate::flows::Sends;
use crate::rows::UNLIMITED;
use crate::transport::table::NewFlow;

/// Makes the hosts of a class.
pub(super) struct HostSource {
    stack: Stack,
    /// What they draw at random.
    random: Pcg64,
    /// Bytes of a full datagram.
    datagram: u16,
}

impl HostSource {
    pub(super) fn new(stack: Stack, random: Pcg64, quic: &Quic) -> HostSource {
        HostSource { stack, random, datagram: quic.datagram() }
    }

    /// The same, if its hosts can carry what the class asks for.
    pub(super) fn fit(mut self, class: &Class, quic: &Quic) -> Result<HostSource, BuildError> {
        let asked = is_driven(class);
        if asked {
            // one connection that is never used tells it
            let Ends { client, server } = (self.stack)(&Transfer {
                start: Time::ZERO,
                size: None,
                download: class.opens == End::Receiver,
                objects: true,
                datagram: self.datagram,
                seed: 0,
            });
            if !client.carries_objects() || !server.carries_objects() {
                return Err(BuildError::NoObjects(quic.stack.clone()));
            }
        }
        Ok(self)
    }

    /// The ends of a new flow, or of a connection of a user's.
    pub(super) fn sends(&mut self, flow: &NewFlow, user: Option<u32>, now: Time) -> Sends {
        let ends = (self.stack)(&Transfer {
            start: now,
            size: (flow.size != UNLIMITED).then_some(flow.size),
            download: flow.download,
            objects: user.is_some(),
            datagram: self.datagram,
            seed: self.random.next_u64(),
        });
        match user {
            Some(user) => Sends::AppHosts(user, ends),
            None => Sends::Hosts(ends),
        }
    }
}
