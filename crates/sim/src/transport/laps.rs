//! Where the numbers of a flow without end begin anew, so that they never run out.
//!
//! They become less by a lap, at both ends at once. Packets under way still have the old ones. A
//! window of data is far smaller than a lap, so that none can be taken for another.

/// A lap, in segments. Times the bytes of a segment, if these are a multiple of four, it is a lap of
/// the numbers of TCP that a capture shows. Unit tests begin anew often.
pub(super) const LAP: u32 = if cfg!(test) { 1 << 14 } else { 1 << 30 };
/// The numbers begin anew where they reach this.
pub(super) const LIMIT: u32 = 2 * LAP;

#[cfg(test)]
mod tests {
    use tidegate_core::units::Time;
    use tidegate_model::{Source, load};

    use crate::{Custom, Progress, Results, Simulation};

    /// Two flows of this size over a link that loses some of their packets.
    fn flows(size: &str, tcp: &str) -> Results {
        let text = format!(
            "name = 'laps'\nduration = '6s'\n\
             [topology.dumbbell]\npairs = 2\naccess = {{ rate = '1Gbit', delay = '1ms' }}\n\
             bottleneck = {{ rate = '100Mbit', delay = '3ms', buffer = '60packets', loss = 0.0005 }}\n\
             [traffic.flows]\narrivals = {{ at = ['0s', '1s'] }}\nsize = '{size}'\n\
             transport = {{ tcp = {{ {tcp}, mss = '600B' }} }}\n"
        );
        let source = Source { name: "laps.toml", text: &text };
        let scenario = load(source, &[], &Default::default());
        let scenario = scenario.unwrap_or_else(|report| panic!("{}", report.render(false)));
        let mut simulation = Simulation::new(&scenario, 1, Custom::default()).ok().unwrap();
        while simulation.advance(Time::NEVER, 100_000).ok() == Some(Progress::Paused) {}
        simulation.finish()
    }

    /// The rule: a flow without end does what one does whose data does not end in the time, and whose
    /// numbers go on. By hand: 100 Mbit/s carry some 19,000 segments of 600 bytes a second, so that the
    /// numbers begin anew, each 16,384, five times.
    #[test]
    fn a_flow_without_end_does_not_notice_that_its_numbers_begin_anew() {
        let linux = ["reno", "cubic", "bbr", "bbr3", "dctcp", "prague", "ledbat"];
        let mut kinds: Vec<String> = linux
            .iter()
            .map(|control| format!("profile = 'linux', control = '{control}'"))
            .collect();
        let others = ["ns2-2001', window = 64", "ns2-2006', recovery = 'newreno', window = 64"];
        kinds.extend(others.iter().map(|other| format!("profile = '{other}")));
        kinds.push("profile = 'rfc'".into());
        kinds.push("profile = 'rfc', recovery = 'sack', prr = true, tlp = true".into());
        for kind in kinds {
            let [endless, long] = ["unlimited", "100GB"].map(|size| flows(size, &kind));
            for (one, other) in endless.flows.iter().zip(&long.flows) {
                let [one_has, other_has] = [one, other].map(|column| format!("{:?}", column.data));
                assert!(
                    one.name == "size_bytes" || one_has == other_has,
                    "{kind}: {}: {one_has}, {other_has}",
                    one.name
                );
            }
        }
    }
}
