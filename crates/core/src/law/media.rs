//! Rates of real-time media: what an encoder aims at, and how fast its packets leave.
//!
//! A law runs at the sender. The receiver reports when each packet came (RFC 8888), and the carrier
//! joins that with what the sender knows of the packet ([`Reported`]). So a law has no part at the
//! receiver, and none at the routers.

pub mod gcc;
pub mod laws;
mod losses;
pub mod nada;
mod recent;
pub mod scream;

use crate::units::Time;

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
pub struct Reported {
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
pub trait MediaControl {
    /// A report has come: the packets that it tells of, in the order of their numbers, and the round
    /// trip without the time for which the receiver kept the report.
    fn on_report(&mut self, now: Time, packets: &[Reported], rtt: Time);

    /// So many bytes are under way: sent, and neither reported nor followed by one that is. It is told
    /// after each packet, and after each report.
    fn flight(&mut self, _bytes: u64) {}

    /// The encoder has made a frame of so many bytes, when the first of the packets that wait had waited so
    /// long.
    fn frame(&mut self, _bytes: u64, _waited: Time) {}

    /// Most bytes that may be under way.
    fn window(&self) -> f64 {
        f64::INFINITY
    }

    /// The rate that the encoder is to aim at while so many bytes wait at the sender, in bit/s.
    fn encode(&self, waiting: u64) -> f64;

    /// The rate at which packets leave the sender, likewise; infinite: at once.
    fn send(&self, waiting: u64) -> f64;
}
