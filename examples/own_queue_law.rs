//! Drop from the front: a full queue gives up its oldest packets for the newest, and
//! no packet is sent that has waited for too long.
//!
//! | symbol | here       | unit | source                                  |
//! |--------|------------|------|-----------------------------------------|
//! | `B`    | the port's buffer | packets, bytes | of the scenario         |
//! | `T`    | `patience` | s    | ours: 0.5                               |
//!
//! N. Yin and M. Hluchyj, "Implication of dropping packets from the front of a
//! queue", 1993: who has waited longest is worth least to those who wait for it,
//! and those who are left have waited less. T. V. Lakshman, A. Neidhardt and
//! T. J. Ott, "The drop from front strategy in TCP and in TCP over ATM", 1996:
//! a sender hears of the loss a queue sooner.
//!
//! At each arrival the oldest packets go until there is room. At each packet's
//! turn it goes if it is older than `T`, and the next one is looked at.
//!
//! Limits: a queue that drops in front is as long as one that drops at its tail.

use tidegate_core::law::queue::{ArrivalContext, Discipline, Next, Slot, Sum, Traits, Waiting};
use tidegate_core::law::settings::Link;
use tidegate_core::law::{Draw, Reason, Verdict};
use tidegate_core::packet::Packet;
use tidegate_core::units::Time;

tidegate_core::settings! {
    /// Parameters of drop-front.
    "DropFront", check_at:
    patience: Time = "500ms" ["1ms" to "1h"] "How long a packet may wait";
}

impl Traits for Config {
    fn marks(&self, _l4s: bool) -> bool {
        false
    }
}

/// Drop-front at one port.
#[derive(Clone, Debug)]
pub struct DropFront {
    patience: Time,
}

impl DropFront {
    /// With parameters that have passed [`Config::check`].
    pub fn new(config: &Config, _: Link) -> DropFront {
        DropFront { patience: config.patience }
    }
}

impl Discipline for DropFront {
    fn arrive(
        &mut self,
        packet: &Packet,
        waiting: &mut Waiting,
        found: &ArrivalContext,
        _: &mut dyn Draw,
    ) -> Verdict {
        let mut fits = found.fits;
        while !fits {
            let Some(oldest) = waiting.oldest() else { return Verdict::Drop(Reason::QueueFull) };
            waiting.evict(oldest);
            let left = Sum { packets: waiting.packets(), bytes: waiting.bytes() };
            fits = found.room.fits(left, packet.size);
        }
        Verdict::Pass
    }

    fn next(&mut self, waiting: &mut Waiting, slot: &Slot, _: &mut dyn Draw) -> Next {
        let oldest = waiting.oldest();
        let Some((handle, packet)) = oldest.and_then(|at| Some((at, waiting.get(at)?))) else {
            return Next::NotBefore(slot.start);
        };
        if slot.start - packet.at > self.patience {
            return Next::Drop(handle, Reason::Early);
        }
        Next::Send(handle)
    }
}
