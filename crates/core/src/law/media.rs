//! Rates of real-time media: what an encoder aims at, and how fast its packets leave.
//!
//! A law runs at the sender. The receiver reports when each packet came (RFC 8888), and the carrier
//! joins that with what the sender knows of the packet ([`Told`]). So a law has no part at the
//! receiver, and none at the routers.

pub mod gcc;
mod losses;
pub mod nada;
mod recent;

use crate::units::{Rate, Time};
use crate::{laws, settings};

use losses::Losses;
use recent::Recent;

laws! {
    /// How the rate of a sender of media is controlled, with settings: `{ law = "nada", xref = "20ms" }`.
    "MediaLaw", "How the rate of a sender of media is controlled.", "a table, as in { law = \"nada\" }";
    pub enum MediaLaw {
        /// NADA (RFC 8698).
        Nada(nada::Config) = "nada",
        /// The control of WebRTC (draft-ietf-rmcat-gcc-02).
        Gcc(gcc::Config) = "gcc",
        /// Always the same rate.
        Fixed(Fixed) = "fixed",
    }
}

impl Default for MediaLaw {
    fn default() -> MediaLaw {
        MediaLaw::Nada(nada::Config::default())
    }
}

settings! {
    /// Settings of a rate that nothing changes.
    "FixedMedia" as pub Fixed:
    rate: Option<Rate> = none "The rate, headers included; default the highest of the encoder";
}

/// The rates of an encoder, in bit/s, and its frames in a second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Encoder {
    /// The lowest rate.
    pub least: f64,
    /// The highest rate.
    pub most: f64,
    /// The rate at the beginning.
    pub start: f64,
    /// Frames per second.
    pub frames: f64,
}

impl Encoder {
    fn clip(&self, rate: f64) -> f64 {
        rate.max(self.least).min(self.most)
    }
}

/// What is known of one packet once a report has come.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Told {
    /// When it was sent.
    pub sent: Time,
    /// When it arrived; none: a later one has come, and this one has not.
    pub arrived: Option<Time>,
    /// Its bytes, headers included.
    pub bytes: u32,
    /// Whether it was marked (RFC 3168, CE).
    pub marked: bool,
}

/// A law while it runs.
pub trait Control {
    /// A report has come: the packets that it tells of, in the order of their numbers, and the round
    /// trip without the time for which the receiver kept the report.
    fn told(&mut self, now: Time, packets: &[Told], rtt: Time);

    /// The rate that the encoder is to aim at while so many bytes wait at the sender, in bit/s.
    fn encode(&self, waiting: u64) -> f64;

    /// The rate at which packets leave the sender, likewise; infinite: at once.
    fn send(&self, waiting: u64) -> f64;
}

impl MediaLaw {
    /// Begins to control an encoder.
    pub fn begin(&self, encoder: Encoder) -> Box<dyn Control + Send> {
        match self {
            MediaLaw::Nada(config) => Box::new(nada::Nada::new(config.clone(), encoder)),
            MediaLaw::Gcc(config) => Box::new(gcc::Gcc::new(config.clone(), encoder)),
            MediaLaw::Fixed(fixed) => {
                Box::new(Steady(fixed.rate.map_or(encoder.most, |rate| rate.bps() as f64)))
            }
        }
    }
}

/// A rate that nothing changes.
struct Steady(f64);

impl Control for Steady {
    fn told(&mut self, _: Time, _: &[Told], _: Time) {}

    fn encode(&self, _: u64) -> f64 {
        self.0
    }

    fn send(&self, _: u64) -> f64 {
        f64::INFINITY
    }
}
