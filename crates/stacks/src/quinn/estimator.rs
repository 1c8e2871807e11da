//! The stack's own estimate of the round trip, for its controls in another transport.
//!
//! A control is given the estimator of its stack, which nobody else can make or tell of a sample. So
//! two ends of the stack are joined by a path whose round trip is what the other transport has
//! measured, and each exchange of a packet and its acknowledgement is a sample.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tidegate_core::host::{Host, Mark, Order, Transfer};
use tidegate_core::units::Time;
use tidegate_model::scenario::QuicCrypto;

use super::end::{ClassConfig, QuicEnd};
use super::proto::congestion::{Controller, ControllerFactory};
use super::proto::{AckFrequencyConfig, RttEstimator, TransportConfig};

const DATAGRAM: u16 = 1200;

/// A control that sends what there is, and keeps what it has been given last.
#[derive(Clone, Default)]
pub(super) struct Listener(Arc<Mutex<Option<RttEstimator>>>);

impl Listener {
    pub(super) fn hear(&self, rtt: &RttEstimator) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(*rtt);
    }

    fn last(&self) -> Option<RttEstimator> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Listener")
    }
}

impl ControllerFactory for Listener {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
        Box::new(Listener::clone(&self))
    }
}

/// Two ends, and what a control at one of them is given.
pub(crate) struct Estimator {
    client: QuicEnd,
    server: QuicEnd,
    now: Time,
    seen: Listener,
}

impl Estimator {
    /// An estimator whose first sample is that of a handshake.
    pub(crate) fn new(first: Time, seed: u64) -> Estimator {
        let seen = Listener::default();
        let mut transport = TransportConfig::default();
        let mut acks = AckFrequencyConfig::default();
        acks.ack_eliciting_threshold(0u32.into());
        transport
            .congestion_controller_factory(Arc::new(seen.clone()))
            .initial_mtu(DATAGRAM)
            .mtu_discovery_config(None)
            .enable_segmentation_offload(false)
            .ack_frequency_config(Some(acks))
            .max_idle_timeout(None);
        let transfer = Transfer {
            start: Time::ZERO,
            size: None,
            download: true,
            objects: true,
            datagram: DATAGRAM,
            seed,
        };
        let settings = ClassConfig::with(transport, QuicCrypto::Null, DATAGRAM);
        let (mut client, server, config) = settings.pair(&transfer);
        client.connect(Time::ZERO, config);
        let mut made = Estimator { client, server, now: Time::ZERO, seen };
        // the flights of the handshake, and what the ends tell each other behind it
        (0..4).for_each(|_| made.exchange(first));
        made
    }

    /// What a control is given with an acknowledgement that measures this round trip: what was known
    /// before it. None: nothing.
    pub(crate) fn measure(&mut self, rtt: Time) -> Option<RttEstimator> {
        self.client.ping();
        self.exchange(rtt);
        self.seen.last()
    }

    /// All that the client wants to send goes to the server within a round trip, and the answers are
    /// back at its end.
    fn exchange(&mut self, rtt: Time) {
        let Estimator { client, server, now, .. } = self;
        let mut bytes = Vec::new();
        client.poll(*now, Order::GoOn);
        while client.transmit(*now, &mut bytes).is_some() {
            server.receive(*now + rtt, &bytes, Mark::None);
            bytes.clear();
        }
        *now += rtt;
        server.poll(*now, Order::GoOn);
        while server.transmit(*now, &mut bytes).is_some() {
            client.receive(*now, &bytes, Mark::None);
            bytes.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// RFC 9002, 5.3, by hand: after 100 ms and 200 ms the smoothed round trip is (7 * 100 + 200) / 8
    /// = 112.5 ms, after 50 ms more 104.6875 ms. Each answer is what was known before its sample.
    #[test]
    fn the_estimate_is_that_of_the_samples() {
        let mut estimator = Estimator::new(Time::from_ms(100), 1);
        let answers = [100, 200, 50, 50].map(|rtt| {
            let known = estimator.measure(Time::from_ms(rtt)).expect("a control is told of it");
            (known.get(), known.min())
        });
        let us = |us| Duration::from_micros(us);
        let first = (us(100_000), us(100_000));
        assert_eq!(answers[..2], [first, first]);
        assert_eq!(answers[2], (us(112_500), us(100_000)));
        assert_eq!(answers[3].1, us(50_000));
        let off = answers[3].0.abs_diff(us(104_687));
        assert!(off < us(2), "{:?}", answers[3].0);
    }
}
