//! What a control of another project hears of an acknowledgement, and in which order.

use tidegate_core::packet::{Ext, Flags};
use tidegate_model::profile::{Profile, Tcp};

use super::super::{BELOW, factory};
use super::*;

/// The first acknowledgement, at 40 ms: of ten packets that left at once the second, third and fourth
/// have arrived, the first is lost, and the receiver has counted so many marks.
fn after_the_first_ack(control: &mut dyn Control, marks: u8) {
    let now = Time::from_ms(40);
    for left in 1..=10 {
        let leaving = Leaving { now: Time::from_ms(left), replaces: None, last: false };
        control.on_leaving(&leaving);
    }
    // RFC 9768, 3.2.2: the counter starts from 5, in the bits AE, CWR and ECE
    let counter = (5 + marks) & 7;
    let flags = [(Flags::ECE, 1), (Flags::CWR, 2), (Flags::AE, 4)]
        .into_iter()
        .filter(|(_, bit)| counter & bit != 0)
        .fold(Flags::ACK, |flags, (flag, _)| flags.with(flag));
    let feedback = Feedback { ext: &Ext::None, now, srtt: now, new: true, flags };
    control.on_feedback(&feedback);
    let [second, third, fourth] = [1, 2, 3].map(SentOutcome::Arrived);
    control.on_outcomes(&[second, third, fourth, SentOutcome::Lost(0)], now);
    let sample = RateSample {
        now,
        segments: 3,
        delivered: 3,
        una: 4,
        sent: 10,
        flight: 6,
        srtt: now,
        rtt: now,
        recovering: false,
        marked: false,
        unused: false,
        any_order: false,
        ext: &Ext::None,
        rate: None,
    };
    control.on_ack(&sample);
}

/// The TCP of Linux, and the size of a datagram of its segments.
fn linux() -> (Tcp, f64) {
    let tcp = Profile::Linux.tcp();
    let size = f64::from(tcp.mss + tcp.header - BELOW);
    (tcp, size)
}

fn window_of(name: &str) -> f64 {
    let (tcp, size) = linux();
    let mut control = factory(name, &tcp, 1).unwrap_or_else(|| panic!("no {name}"))();
    after_the_first_ack(&mut *control, 0);
    (control.cwnd() * size).round()
}

/// s2n-quic-transport tells of losses before it tells what has arrived (`Manager::process_acks`; also
/// RFC 9002, A.7): recovery begins, and nothing opens the window. It is ten packets, less three tenths
/// (RFC 8312, 4.5).
#[test]
fn s2n_hears_of_losses_first() {
    let (_, size) = linux();
    assert_eq!(window_of("s2n:cubic"), 7.0 * size);
}

/// quinn-proto and noq-proto tell first what has arrived (`Connection::on_ack_received`): slow start
/// opens the window of 12000 bytes by three packets, and the loss halves it.
#[test]
fn quinn_and_noq_hear_first_what_has_arrived() {
    let (_, size) = linux();
    for name in ["quinn:new-reno", "noq:new-reno"] {
        assert_eq!(window_of(name), (12_000.0 + 3.0 * size) / 2.0, "{name}");
    }
}

/// What it hears, in words.
#[derive(Default)]
struct Listener(Vec<String>);

impl Theirs for Listener {
    fn on_handshake(&mut self, _: Time, _: Time) {}

    fn on_sent(&mut self, _: &Packet, _: bool) {}

    fn on_acked(&mut self, packets: &[Packet], _: &Standing) {
        self.0.push(format!("{} arrived", packets.len()));
    }

    fn on_lost(&mut self, packets: &[Packet], _: Time, _: bool) {
        self.0.push(format!("{} lost", packets.len()));
    }

    fn on_marks(&mut self, _: &Packet, marks: u32, _: Time) {
        self.0.push(format!("{marks} marked"));
    }

    fn window(&self) -> u64 {
        u64::MAX
    }

    fn ssthresh(&self) -> Option<u64> {
        None
    }
}

/// Each mark that the receiver has counted is told, as QUIC does in each acknowledgement (RFC 9000,
/// 13.4.2.1).
#[test]
fn every_mark_is_told() {
    let mut adapter = Adapter::new(1472, true, Listener::default());
    after_the_first_ack(&mut adapter, 2);
    let Listener(heard) = adapter.theirs;
    assert_eq!(heard, ["3 arrived", "1 lost", "2 marked"]);
}
