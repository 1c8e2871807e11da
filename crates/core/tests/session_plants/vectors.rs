//! The golden vectors of the datapath, replayed by the model.

use tidegate_core::law::session::{Admission, Admit, Counts, Knobs, Opener, clients, quic, young};
use tidegate_core::law::settings::Setting;
use tidegate_core::law::{Datapath, Moment, Verdict};
use tidegate_core::packet::{Ext, Flags, Form, Packet};
use tidegate_core::units::Time;

use super::golden_vectors::{LIST, Reader, Rules, replay};

/// The model.
struct Model {
    admit: Admit,
    now: Time,
    knobs: Knobs,
    counts: Counts,
}

fn model(rules: &Rules) -> Model {
    let young = |packets: u32| young::Config {
        packets: Setting::Is(packets.into()),
        ..young::Config::default()
    };
    let admit = Admit::new(Admission {
        limiter: rules.limiter,
        opener: Opener::Syn,
        hashed: true,
        visits: rules.visits,
        young: rules.young.map(young),
        clients: rules.clients.map(|cells| clients::Config { cells, ..Default::default() }),
        quic: rules.quic.map(|cells| quic::Config { cells, ..Default::default() }),
        ..Admission::default()
    });
    Model { admit, now: Time::ZERO, knobs: Knobs::default(), counts: Counts::default() }
}

fn packet(who: u64, what: &str) -> Packet {
    let flags = match what {
        "SYN" => Flags::SYN,
        "RST" => Flags::RST,
        "FIN" => Flags::FIN.with(Flags::ACK),
        "DATA" => Flags::DATA,
        _ => Flags::NONE,
    };
    let datagram = |form| Ext::Datagram { payload: 0, form };
    let (size, ext) = match what {
        "INITIAL" => (1228, datagram(Form::ClientInitial)),
        "SHORT" => (1228, datagram(Form::Other)),
        "DATA" => (1000, Ext::default()),
        _ => (40, Ext::default()),
    };
    Packet { flow: who as u32, client: who as u16, flags, size, ext, ..Packet::default() }
}

impl Reader for Model {
    fn at(&mut self, now_ns: u64) {
        self.now = Time::from_ns(now_ns);
    }

    fn set_knobs(&mut self, knobs: &Knobs) {
        self.knobs = *knobs;
    }

    fn comes(&mut self, who: u64, what: &str) -> bool {
        let packet = packet(who, what);
        let verdict = self.admit.admit(&packet, self.now, &self.knobs, &mut self.counts);
        let passed = verdict == Verdict::Pass;
        if passed {
            self.admit.enqueued(&packet, &mut self.counts);
        }
        passed
    }

    fn sweep(&mut self) {
        let moment = Moment { now: self.now, queue_bytes: 0 };
        self.admit.renewed(&moment, &self.knobs, &mut self.counts);
    }

    fn count(&self, name: &str) -> u64 {
        let counts = &self.counts;
        match name {
            "arrived" => counts.arrived,
            "admitted" => counts.admitted,
            "ended" => counts.departed,
            "eligible" => counts.eligible,
            "inside" => counts.inside,
            "served" => counts.served,
            "waited" => counts.waited,
            "let_in" => counts.let_in,
            "bytes" => counts.bytes,
            "young_bytes" => counts.young_bytes,
            "answered" => counts.answered,
            _ => panic!("`{name}` is no count"),
        }
    }
}

#[test]
fn the_model_replays_every_vector() {
    for file in LIST {
        replay(file, model);
    }
}
