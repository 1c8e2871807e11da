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

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use tidegate_core::law::queue::{ArrivalContext, Discipline, Next, Slot, Sum, Waiting};
use tidegate_core::law::settings::{Link, Refused, within_time};
use tidegate_core::law::{Draw, Reason, Verdict};
use tidegate_core::packet::Packet;
use tidegate_core::units::Time;

/// Parameters of drop-front.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "snake_case")]
#[schemars(rename = "DropFront")]
pub struct Config {
    /// How long a packet may wait; default 500ms, 1ms to 1h.
    pub patience: Time,
}

impl Default for Config {
    fn default() -> Config {
        Config { patience: Time::from_ms(500) }
    }
}

impl Config {
    /// Whether every value is in range; any link will do.
    ///
    /// # Errors
    /// The field that is not, and what would be right.
    pub fn check(&self, _: Link) -> Result<(), Refused> {
        within_time("patience", self.patience, Time::from_ms(1), Time::from_secs(3_600))
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
