//! The laws of media by name, and what is not worth a file: a rate that nothing changes.

use crate::units::{Rate, Time};
use crate::{laws, settings};

use super::{Encoder, MediaControl, Reported, gcc, nada, scream};

laws! {
    /// How the rate of a sender of media is controlled, with settings: `{ law = "nada", xref = "20ms" }`.
    "MediaLaw", "How the rate of a sender of media is controlled.", "a table, as in { law = \"nada\" }";
    pub enum MediaLaw {
        /// NADA (RFC 8698).
        Nada(nada::Config) = "nada",
        /// The control of WebRTC (draft-ietf-rmcat-gcc-02).
        Gcc(gcc::Config) = "gcc",
        /// SCReAM, version 2 (draft-ietf-ccwg-rfc8298bis-screamv2).
        Scream(scream::Config) = "scream",
        /// Always the same rate.
        Fixed(Fixed) = "fixed",
    }
}

settings! {
    /// Settings of a rate that nothing changes.
    "FixedMedia" as pub Fixed:
    rate: Option<Rate> = none "The rate, headers included; default the highest of the encoder";
}

impl MediaLaw {
    /// Begins to control an encoder.
    pub fn begin(&self, encoder: Encoder) -> Box<dyn MediaControl + Send> {
        match self {
            MediaLaw::Nada(config) => Box::new(nada::Nada::new(config.clone(), encoder)),
            MediaLaw::Gcc(config) => Box::new(gcc::Gcc::new(config.clone(), encoder)),
            MediaLaw::Scream(config) => Box::new(scream::Scream::new(config.clone(), encoder)),
            MediaLaw::Fixed(fixed) => {
                Box::new(Steady(fixed.rate.map_or(encoder.most, |rate| rate.bps() as f64)))
            }
        }
    }
}

/// A rate that nothing changes.
struct Steady(f64);

impl MediaControl for Steady {
    fn on_report(&mut self, _: Time, _: &[Reported], _: Time) {}

    fn encode(&self, _: u64) -> f64 {
        self.0
    }

    fn send(&self, _: u64) -> f64 {
        f64::INFINITY
    }
}
