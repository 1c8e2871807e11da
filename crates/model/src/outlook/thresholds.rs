//! Warnings about thresholds of RED that its buffer never lets the queue reach.

use tidegate_core::law::queue::{QueueLaw, red};
use tidegate_core::law::settings::Setting;

use super::lint::FULL_PACKET;
use crate::scenario::{Limit, Port};

fn red_of(queue: &QueueLaw) -> Option<&red::Config> {
    match queue {
        QueueLaw::Red(law) => Some(law),
        QueueLaw::Dqm(law) => red_of(&law.over),
        _ => None,
    }
}

/// The longest queue that fits, as RED counts it, and in the words of a message.
fn most(law: &red::Config, limit: Limit) -> (f64, String) {
    let (each, mean) = (FULL_PACKET as f64, law.mean_packet.bytes() as f64);
    match (limit, law.bytes) {
        (Limit::Packets(packets), false) => (packets.into(), format!("{packets} packets")),
        (Limit::Packets(packets), true) => {
            let most = (f64::from(packets) * each / mean).floor();
            (most, format!("about {most} mean packets of {}", law.mean_packet))
        }
        (Limit::Bytes(bytes), false) => {
            let most = (bytes as f64 / each).floor().max(1.0);
            (most, format!("about {most} packets of {FULL_PACKET} B"))
        }
        (Limit::Bytes(bytes), true) => {
            let most = (bytes as f64 / mean).floor().max(1.0);
            (most, format!("{most} mean packets of {}", law.mean_packet))
        }
    }
}

/// Warns about RED with a threshold above its buffer.
pub(super) fn out_of_reach(port: &Port) -> Option<String> {
    let law = red_of(&port.queue)?;
    let (min_th, max_th, _) = law.at(port.link());
    let (most, room) = most(law, port.limit(port.rate));
    let name = &port.name;
    if min_th > most {
        return Some(format!(
            "red at `{name}` drops from an average queue of {min_th} packets (min_th), but the \
             buffer holds {room}: it acts as drop-tail; write a lower min_th, or a larger buffer"
        ));
    }
    // an automatic max_th is three times min_th, whatever the buffer
    (law.max_th != Setting::Auto && max_th > most).then(|| {
        format!(
            "red at `{name}` drops a share of max_p at an average queue of {max_th} packets \
             (max_th), but the buffer holds {room} and overflows before; write a lower max_th, or a \
             larger buffer"
        )
    })
}
