//! Golden vectors of the datapath of session laws, and how they are replayed. Each file says where its
//! numbers come from. The readers are the model, its translation for the kernel compiled for this
//! machine, and the same in the kernel.
//!
//! A row is `time_ns,event,who,value,verdict`, then the counts so far, named by the heading; a count
//! that is left out is not compared. The events:
//!
//! | event   | meaning                                                                              |
//! |---------|--------------------------------------------------------------------------------------|
//! | `rule`  | what the datapath is made with: `limiter`, `clients`, `visits`, `young`, `quic`        |
//! | `allow` | so many sessions in an epoch of 1 s; all flows are eligible                            |
//! | `knob`  | these knobs, and the others as they were                                             |
//! | `comes` | a packet of the flow or client `who` comes, and if it passes, the queue takes it       |
//! | `sweep` | an epoch ends: connections that are idle have ended                                   |
//!
//! A packet is `SYN`, `RST`, `FIN` (40 bytes each), `DATA` (1000 bytes), `INITIAL` or `SHORT` (of
//! QUIC); `DATA*7` is seven of them.

use tidegate_core::law::session::{Knobs, Limiter};
use tidegate_core::units::Time;

/// Every file, and its rows.
pub const LIST: [(&str, &str, usize); 6] = [
    ("clients", include_str!("admit_clients.csv"), 30),
    ("onset", include_str!("admit_onset.csv"), 15),
    ("quic", include_str!("admit_quic.csv"), 23),
    ("saturated", include_str!("admit_saturated.csv"), 12),
    ("visits", include_str!("admit_visits.csv"), 32),
    ("young", include_str!("admit_young.csv"), 16),
];

/// What a datapath is made with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    pub limiter: Limiter,
    /// Cells of clients.
    pub clients: Option<u32>,
    /// Whether visits are admitted.
    pub visits: bool,
    /// Packets for which a flow is young.
    pub young: Option<u32>,
    /// Cells of connections of QUIC.
    pub quic: Option<u32>,
}

/// A datapath that replays rows.
pub trait Reader {
    /// Sets the time.
    fn at(&mut self, now_ns: u64);
    /// Puts knobs in force.
    fn set_knobs(&mut self, knobs: &Knobs);
    /// A packet comes; whether it passes.
    fn comes(&mut self, who: u64, what: &str) -> bool;
    /// An epoch ends.
    fn sweep(&mut self);
    /// What was counted so far, by the name of its column.
    fn count(&self, name: &str) -> u64;
}

fn number(field: &str) -> u64 {
    field.parse().unwrap_or_else(|_| panic!("`{field}` is no number"))
}

fn rules(rows: &[Vec<&str>]) -> Rules {
    let mut rules = Rules::default();
    for row in rows.iter().filter(|row| row[1] == "rule") {
        let (name, value) = row[3].split_once('=').expect("a name and a value");
        match (name, value) {
            ("limiter", "token-bucket") => rules.limiter = Limiter::TokenBucket,
            ("limiter", "saving-bucket") => rules.limiter = Limiter::SavingBucket,
            ("clients", cells) => rules.clients = Some(number(cells) as u32),
            ("visits", _) => rules.visits = true,
            ("young", packets) => rules.young = Some(number(packets) as u32),
            ("quic", cells) => rules.quic = Some(number(cells) as u32),
            _ => panic!("`{}` is no rule", row[3]),
        }
    }
    rules
}

fn set(knobs: &mut Knobs, values: &str) {
    for value in values.split(' ') {
        let (name, value) = value.split_once('=').expect("a name and a value");
        let value = number(value);
        let short = value as u32;
        match name {
            "allowance" => knobs.allowance = value,
            "interval" => knobs.token_interval_ns = value,
            "depth" => knobs.token_depth_ns = value,
            "pass_all" => knobs.pass_all = short,
            "shut" => knobs.shut = short,
            "bypass" => knobs.bypass = short,
            "share" => knobs.share = short,
            "round" => knobs.round = short,
            "spare" => knobs.spare = short,
            _ => panic!("`{name}` is no knob"),
        }
    }
}

/// Replays a file with the reader that is made for its rules.
pub fn replay<R: Reader>(
    (file, text, expected_rows): (&str, &str, usize),
    make: impl FnOnce(&Rules) -> R,
) {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let heading: Vec<&str> = lines.next().expect("a heading").split(',').skip(5).collect();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let mut reader = make(&rules(&rows));
    let mut knobs = Knobs::default();
    for row in &rows {
        let [time, event, who, value, verdict] = row[..5] else {
            panic!("too few fields: {row:?}")
        };
        reader.at(number(time));
        match event {
            "rule" => {}
            "allow" => {
                knobs.allow(number(value), Time::from_secs(1));
                reader.set_knobs(&knobs);
            }
            "knob" => {
                set(&mut knobs, value);
                reader.set_knobs(&knobs);
            }
            "comes" => {
                let (what, times) = value.split_once('*').unwrap_or((value, "1"));
                for _ in 0..number(times) {
                    let passed = reader.comes(number(who), what);
                    assert_eq!(if passed { "pass" } else { "drop" }, verdict, "{file}: {row:?}");
                }
            }
            "sweep" => reader.sweep(),
            _ => panic!("`{event}` is no event"),
        }
        for (name, expected) in heading.iter().zip(&row[5..]) {
            if !expected.is_empty() {
                assert_eq!(reader.count(name), number(expected), "{file}: {name} after {row:?}");
            }
        }
    }
    assert_eq!(rows.len(), expected_rows, "{file}");
}
