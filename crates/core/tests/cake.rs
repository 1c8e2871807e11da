//! CAKE against closed forms and traces by hand.

use std::collections::BTreeMap;

use tidegate_core::law::queue::cake::cobalt::{Cobalt, HeadFate, Params};
use tidegate_core::law::queue::cake::rotation::{Rotation, State};
use tidegate_core::law::queue::cake::sets::{Sets, TagPlace};
use tidegate_core::law::queue::cake::shaper::{Framing, Shaper, Wire};
use tidegate_core::law::queue::cake::{Cake, Config, Isolation};
use tidegate_core::law::queue::{
    ArrivalContext, Discipline, Links, Next, Room, Slot, Sum, Waiting,
};
use tidegate_core::law::settings::Link;
use tidegate_core::law::{Draw, Reason, Verdict};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::{Rate, Size, Time};

use crate::draws::{Always, Never};

const LINK: Link = Link { rate: Rate::from_bps(100_000_000), delay: Time::from_ms(20) };

/// CAKE behind a link that takes no time.
struct Rig {
    cake: Cake,
    waiting: Waiting,
    now: Time,
    room: Room,
    draw: Box<dyn Draw>,
}

impl Rig {
    fn new(config: &Config) -> Rig {
        config.check(LINK).expect("the parameters are in range");
        let room = Room { packets: 100_000, bytes: u64::MAX };
        let (cake, draw) = (Cake::new(config, LINK), Box::new(Never));
        Rig { cake, waiting: Waiting::new(), now: Time::ZERO, room, draw }
    }

    fn arrive(&mut self, packet: Packet) -> Verdict {
        let packet = Packet { at: self.now, ..packet };
        let queue = Sum { packets: self.waiting.packets(), bytes: self.waiting.bytes() };
        let fits = self.room.fits(queue, packet.size);
        let pace = LINK.rate.pace();
        let found =
            ArrivalContext { now: self.now, queue, fits, idle: None, pace, room: self.room };
        let verdict = self.cake.arrive(&packet, &mut self.waiting, &found, &mut Never);
        if verdict == Verdict::Pass {
            let handle = self.waiting.push(&packet);
            self.cake.taken(handle, &mut self.waiting);
        }
        verdict
    }

    /// What is sent now; or until when nothing is.
    fn serve(&mut self) -> Result<Packet, Time> {
        loop {
            let slot = Slot { start: self.now, idle: Time::ZERO, pace: LINK.rate.pace() };
            match self.cake.next(&mut self.waiting, &slot, &mut *self.draw) {
                Next::Send(handle) => return Ok(self.waiting.take(handle).expect("it waits")),
                Next::Mark(handle) => {
                    let packet = self.waiting.take(handle).expect("it waits");
                    return Ok(Packet { flags: packet.flags.with(Flags::CE), ..packet });
                }
                Next::Drop(handle, Reason::Early) => {
                    self.waiting.take(handle).expect("it waits");
                }
                Next::Drop(_, reason) => panic!("{reason:?}"),
                Next::NotBefore(later) => return Err(later),
            }
        }
    }

    /// When each of so many waiting packets is sent.
    fn departures(&mut self, packets: usize) -> Vec<Time> {
        let mut at = Vec::new();
        while at.len() < packets {
            match self.serve() {
                Ok(_) => at.push(self.now),
                Err(later) => self.now = later,
            }
        }
        at
    }
}

fn packet(flow: u32, size: u16) -> Packet {
    Packet { flow, size, ..Packet::default() }
}

fn us(us: u64) -> Time {
    Time::from_ns(us * 1000)
}

/// III-A: at 8 Mbit/s a byte takes 1 us, so 1000 B leave exactly 1 ms apart,
/// from the first on; idle time earns no burst.
#[test]
fn the_shaper_keeps_its_rate_to_the_packet() {
    let mut rig =
        Rig::new(&Config { bandwidth: Some(Rate::from_bps(8_000_000)), ..Config::default() });
    for start in [us(0), us(5_000_000)] {
        rig.now = start;
        for _ in 0..5 {
            rig.arrive(packet(1, 1000));
        }
        let expected: Vec<Time> = (0..5).map(|nth| start + us(nth * 1000)).collect();
        assert_eq!(rig.departures(5), expected);
    }
    // what comes before the clock has run out waits for it: sent at 4 ms, so 5 ms
    rig.now = us(5_004_500);
    rig.arrive(packet(1, 1000));
    assert_eq!(rig.departures(1), [us(5_005_000)]);
}

/// III-A: without a bandwidth nothing is held back.
#[test]
fn without_a_bandwidth_nothing_is_held_back() {
    let mut rig = Rig::new(&Config::default());
    for _ in 0..100 {
        rig.arrive(packet(1, 1500));
    }
    assert_eq!(rig.departures(100), vec![Time::ZERO; 100]);
}

/// III-A, by hand: 1000 B + 28 B are 22 ATM cells of 48 B (1056 B), so 22 x 53 =
/// 1166 B; PTM adds a byte for each 64 begun, 16 to 1000 B and none to none;
/// the least length counts before cells, and a negative overhead is one.
#[test]
fn lengths_are_those_of_the_link_behind() {
    let length = |overhead, mpu, framing, size| Wire { overhead, mpu, framing }.length(size);
    assert_eq!(length(28, 0, Framing::Atm, 1000), 1166);
    assert_eq!(length(0, 0, Framing::Atm, 48), 53);
    assert_eq!(length(0, 0, Framing::Atm, 49), 106);
    assert_eq!(length(0, 0, Framing::Ptm, 1000), 1016);
    assert_eq!(length(0, 0, Framing::Ptm, 64), 65);
    assert_eq!(length(18, 84, Framing::None, 40), 84);
    assert_eq!(length(18, 84, Framing::None, 1500), 1518);
    assert_eq!(length(-14, 0, Framing::None, 1514), 1500);
    let mut shaper = Shaper::new(Some(Rate::from_bps(8_000_000)));
    shaper.sent(1166);
    assert_eq!(shaper.holds_until(Time::ZERO), Some(us(1166)));
    assert_eq!(shaper.holds_until(us(1166)), None);
}

/// III-B: 8 tags with one and the same place fill its set, the ninth shares;
/// in a plain hash they share from the second on. A place that is not in use is
/// somebody's again, and who has a place keeps it.
#[test]
fn a_set_resolves_collisions() {
    let tags = |nth: u32| 5 + nth * 64;
    let mut sets = Sets::new(64, 8);
    let mut used = Vec::new();
    for nth in 0..8 {
        let place = sets.find(tags(nth), |place| used.contains(&place));
        let TagPlace::Free(place) = place else { panic!("{nth}: {place:?}") };
        assert_eq!(place / 8, 0, "in the set of place 5");
        assert!(!used.contains(&place));
        used.push(place);
    }
    assert_eq!(used[0], 5);
    for nth in 0..8 {
        let known = TagPlace::Known(used[nth as usize]);
        assert_eq!(sets.find(tags(nth), |place| used.contains(&place)), known);
    }
    assert_eq!(sets.find(tags(8), |place| used.contains(&place)), TagPlace::Shared(5));
    let given_up = used.remove(3);
    assert_eq!(sets.find(tags(9), |place| used.contains(&place)), TagPlace::Free(given_up));
    let mut plain = Sets::new(64, 1);
    assert_eq!(plain.find(tags(0), |_| false), TagPlace::Free(5));
    for nth in 1..8 {
        assert_eq!(plain.find(tags(nth), |place| place == 5), TagPlace::Shared(5));
    }
}

/// III-B: of 512 flows in 1024 queues a plain hash expects 512 - 1024 (1 -
/// (1023/1024)^512) = 109 not to have their own, with a standard deviation of
/// 7.5; in sets of 8, which have 4 flows on the average, the excess over 8
/// expected of a Poisson number is 0.0335 a set, 4.3 in all 128 (deviation below 4).
#[test]
fn sets_of_eight_leave_few_collisions() {
    let shared = |ways| {
        let mut sets = Sets::new(1024, ways);
        let mut used = vec![false; 1024];
        (0..512)
            .filter(|&flow| {
                let tag = (packet(flow, 0).flow_hash(0) >> 32) as u32;
                match sets.find(tag, |place| used[place]) {
                    TagPlace::Free(place) => {
                        used[place] = true;
                        false
                    }
                    TagPlace::Known(_) | TagPlace::Shared(_) => true,
                }
            })
            .count()
    };
    let (plain, eight) = (shared(1), shared(8));
    assert!((72..=146).contains(&plain), "{plain}");
    assert!(eight <= 24, "{eight}");
}

/// Bytes that each key has sent of `packets`, while all flows always have more:
/// each flow is its source, destination and size.
fn shares(
    config: &Config,
    flows: &[(u16, u16, u16)],
    packets: usize,
    key: impl Fn(&Packet) -> u32,
) -> BTreeMap<u32, f64> {
    let mut rig = Rig::new(&Config { target: Time::from_secs(10), ..config.clone() });
    let of = |flow: usize| {
        let (src, dst, size) = flows[flow];
        Packet { flow: flow as u32, src, dst, size, ..Packet::default() }
    };
    for flow in 0..flows.len() {
        for _ in 0..4 {
            rig.arrive(of(flow));
        }
    }
    let mut sent = BTreeMap::new();
    for _ in 0..packets {
        let packet = rig.serve().expect("there is no shaper");
        *sent.entry(key(&packet)).or_insert(0.0) += f64::from(packet.size);
        rig.arrive(of(packet.flow as usize));
    }
    sent
}

/// III-B (DRR): flows that always have more send the same bytes, whatever the
/// size of their packets, to a quantum and a packet.
#[test]
fn flows_share_by_bytes() {
    let config = Config { isolation: Isolation::Flows, ..Config::default() };
    let flows = [(0, 9, 1500), (1, 9, 500), (2, 9, 64), (3, 9, 1000)];
    let sent = shares(&config, &flows, 20_000, |packet| packet.flow);
    let most = sent.values().copied().fold(0.0, f64::max);
    assert_eq!(sent.len(), 4);
    for (flow, bytes) in &sent {
        assert!(most - bytes <= 1514.0 + 1500.0, "{flow}: {bytes} of {most}");
    }
    // all in one queue it is the order of arrival: four packets of each in turn
    let config = Config { isolation: Isolation::None, ..Config::default() };
    let sent = shares(&config, &flows, 4000, |packet| packet.flow);
    assert_eq!(sent.values().copied().collect::<Vec<_>>(), [1.5e6, 5e5, 64e3, 1e6]);
}

/// III-B: host 1 has one flow and host 2 has eight, to hosts of their own. By
/// hosts either gets half, by flows the first a ninth; to one and the same
/// destination triple isolation finds nine flows there, and shares by flows.
#[test]
fn hosts_share_whatever_their_flows() {
    let flows = |one: u16, other: u16| {
        let mut flows = vec![(1, one, 1000)];
        flows.extend([(2, other, 1000); 8]);
        flows
    };
    let share = |isolation, flows: &[(u16, u16, u16)]| {
        let config = Config { isolation, ..Config::default() };
        let sent = shares(&config, flows, 36_000, |packet| u32::from(packet.src));
        sent[&1] / (sent[&1] + sent[&2])
    };
    let apart = flows(3, 4);
    let cases = [
        (Isolation::Flows, &apart, 1.0 / 9.0),
        (Isolation::DualSrchost, &apart, 0.5),
        (Isolation::DualDsthost, &apart, 0.5),
        (Isolation::TripleIsolate, &apart, 0.5),
        (Isolation::DualSrchost, &flows(3, 3), 0.5),
        (Isolation::DualDsthost, &flows(3, 3), 1.0 / 9.0),
        (Isolation::TripleIsolate, &flows(3, 3), 1.0 / 9.0),
    ];
    for (isolation, flows, expected) in cases {
        let share = share(isolation, flows);
        assert!((share - expected).abs() < 0.001, "{isolation:?}: {share}, not {expected}");
    }
}

/// III-B: who comes back from rest is sent before those that always have more,
/// until it has used its quantum up: 1514 B are two packets of 1000 B.
#[test]
fn sparse_flows_go_first() {
    let mut rig = Rig::new(&Config { isolation: Isolation::Flows, ..Config::default() });
    for _ in 0..20 {
        rig.arrive(packet(1, 1000));
        rig.arrive(packet(2, 1000));
    }
    rig.departures(8);
    for _ in 0..4 {
        rig.arrive(packet(3, 1000));
    }
    let order: Vec<u32> = (0..3).map(|_| rig.serve().expect("one waits").flow).collect();
    assert_eq!(order[..2], [3, 3]);
    assert_ne!(order[2], 3);
}

/// The states of a queue, in the order of Linux' `sch_cake`. The quantum is
/// 1000 B and is used up by one packet; an interval after the last one (100 ms)
/// nothing is left of it.
#[test]
fn a_queue_goes_through_its_states() {
    let params = Params::new(Time::from_ms(5), Time::from_ms(100), Time::ZERO);
    let mut rotation = Rotation::new(Isolation::Flows, 64, 8, 1000, 0);
    let (mut waiting, mut links) = (Waiting::new(), Links::default());
    let mut come = |rotation: &mut Rotation, links: &mut Links, flow: u32| {
        let queue = rotation.queue_of(&packet(flow, 1000));
        let handle = waiting.push(&packet(flow, 1000));
        rotation.flows[queue].packets.push(handle, links);
        rotation.added(queue);
        queue
    };
    let send = |rotation: &mut Rotation, links: &mut Links, queue: usize, now| {
        assert_eq!(rotation.next_queue(now, &params), Some(queue));
        rotation.flows[queue].packets.pop(links).expect("one waits");
        rotation.flows[queue].cobalt.judge(now, Time::ZERO, false, &params, &mut Never);
        rotation.sent(queue, 1000);
    };
    let ms = Time::from_ms;
    let seven = rotation.queue_of(&packet(7, 1000));
    assert_eq!(rotation.state(seven), State::Rest);
    come(&mut rotation, &mut links, 7);
    assert_eq!(rotation.state(seven), State::Sparse);
    send(&mut rotation, &mut links, seven, ms(1));
    // empty and without deficit: it waits for its turn, and then decays
    assert_eq!(rotation.next_queue(ms(2), &params), None);
    assert_eq!(rotation.state(seven), State::Decaying);
    come(&mut rotation, &mut links, 7);
    assert_eq!(rotation.state(seven), State::Sparse);
    send(&mut rotation, &mut links, seven, ms(3));
    // while another has its turn it waits for its own; a packet by then makes it bulk
    let eight = come(&mut rotation, &mut links, 8);
    send(&mut rotation, &mut links, eight, ms(4));
    assert_eq!(rotation.state(seven), State::SparseWait);
    come(&mut rotation, &mut links, 7);
    assert_eq!(rotation.state(seven), State::Bulk);
    // and so does a packet that waits when the quantum is used up
    come(&mut rotation, &mut links, 8);
    send(&mut rotation, &mut links, seven, ms(5));
    assert_eq!(rotation.state(eight), State::Bulk);
    send(&mut rotation, &mut links, eight, ms(6));
    assert_eq!(rotation.next_queue(ms(104), &params), None);
    assert_eq!([rotation.state(seven), rotation.state(eight)], [State::Decaying; 2]);
    for _ in 0..2 {
        assert_eq!(rotation.next_queue(ms(106), &params), None);
    }
    assert_eq!([rotation.state(seven), rotation.state(eight)], [State::Rest; 2]);
}

/// When packets are dropped, of one every 10 ms that has waited so many.
fn trace(cobalt: &mut Cobalt, params: &Params, from: u64, to: u64, waited: u64) -> Vec<u64> {
    let times = (from..=to).step_by(10);
    times
        .filter(|&ms| {
            let (now, waited) = (Time::from_ms(ms), Time::from_ms(waited));
            cobalt.judge(now, waited, false, params, &mut Never) == HeadFate::Drop
        })
        .collect()
}

/// RFC 8289, 5.5, in COBALT: after one interval over the target a packet is
/// dropped, and the next ones at shrinking distances of 100 ms/sqrt(count). By
/// hand they are due 100, 170.7, 228.4, 278.4 and 323.2 ms after the first one.
#[test]
fn cobalt_signals_as_codel_does() {
    let params = Params::new(Time::from_ms(5), Time::from_ms(100), Time::ZERO);
    let mut cobalt = Cobalt::default();
    assert_eq!(trace(&mut cobalt, &params, 1000, 1340, 20), [1100, 1180, 1230, 1280, 1330]);
    assert_eq!(cobalt.count(), 6);
    // short delays: the next signal was due at 1323.2 + 100/sqrt(6) = 1364.0, and
    // at each such time the count falls: 5 at 1370, 4 at 1408.7 + ..., until it is 0
    assert_eq!(trace(&mut cobalt, &params, 1350, 1360, 1), [0; 0]);
    assert_eq!(cobalt.count(), 6);
    assert_eq!(trace(&mut cobalt, &params, 1370, 1370, 1), [0; 0]);
    assert_eq!(cobalt.count(), 5);
    // over the target again: from 1380 on 100/sqrt(5) = 44.7 ms pass, not 100
    assert_eq!(trace(&mut cobalt, &params, 1380, 1430, 20), [1430]);
    assert_eq!(trace(&mut cobalt, &params, 1440, 2500, 1), [0; 0]);
    assert_eq!(cobalt.count(), 0);
    assert!(!cobalt.rests(Time::from_ms(2510)) && cobalt.rests(Time::from_ms(2600)));
}

/// The same instants with marks, where the packet can bear one.
#[test]
fn cobalt_marks_what_bears_a_mark() {
    let params = Params::new(Time::from_ms(5), Time::from_ms(100), Time::ZERO);
    let mut cobalt = Cobalt::default();
    let marks: Vec<u64> = (1000..=1340)
        .step_by(10)
        .filter(|&ms| {
            let waited = Time::from_ms(20);
            cobalt.judge(Time::from_ms(ms), waited, true, &params, &mut Never) == HeadFate::Mark
        })
        .collect();
    assert_eq!(marks, [1100, 1180, 1230, 1280, 1330]);
}

/// Linux: BLUE's share grows by 1/256 with a loss to a full buffer and shrinks
/// by 1/4096 with an empty queue, once a target (5 ms) at most; it drops what
/// could be marked too.
#[test]
fn blue_follows_full_buffers_and_empty_queues() {
    let params = Params::new(Time::from_ms(5), Time::from_ms(100), Time::ZERO);
    let mut cobalt = Cobalt::default();
    for (ms, counted) in [(1000, 1.0), (1005, 1.0), (1006, 2.0), (1012, 3.0)] {
        cobalt.queue_full(Time::from_ms(ms), &params);
        assert_eq!(cobalt.p_drop(), counted / 256.0, "{ms}: 5 ms are not more than 5 ms");
    }
    let judge = |cobalt: &mut Cobalt, number| {
        cobalt.judge(Time::from_ms(1012), Time::ZERO, true, &params, &mut Always(number))
    };
    assert_eq!(judge(&mut cobalt, 0.0117), HeadFate::Drop);
    assert_eq!(judge(&mut cobalt, 0.0118), HeadFate::Send);
    for ms in [1014, 1018, 1020] {
        cobalt.queue_empty(Time::from_ms(ms), &params);
    }
    assert_eq!(cobalt.p_drop(), 3.0 / 256.0 - 1.0 / 4096.0);
    for ms in (2000..3000).step_by(10) {
        cobalt.queue_empty(Time::from_ms(ms), &params);
    }
    assert_eq!(cobalt.p_drop(), 0.0);
}

/// Linux: at 1 Mbit/s 1514 B take 12.112 ms, so the target is 18.168 ms, and the
/// interval longer by the same 13.168 ms; at 100 kbit/s it is twice the target.
#[test]
fn targets_suit_slow_links() {
    let params = |bps| {
        let mtu_time = Shaper::new(Some(Rate::from_bps(bps))).time_of(1514);
        Params::new(Time::from_ms(5), Time::from_ms(100), mtu_time)
    };
    assert_eq!((params(1_000_000).target, params(1_000_000).interval), (us(18_168), us(113_168)));
    assert_eq!((params(100_000).target, params(100_000).interval), (us(181_680), us(363_360)));
    assert_eq!((params(10_000_000).target, params(10_000_000).interval), (us(5000), us(100_000)));
    // four packets are 4 x 12.112 ms: less is no congestion, whatever the target
    let mut cobalt = Cobalt::default();
    assert_eq!(trace(&mut cobalt, &params(1_000_000), 1000, 3000, 48), [0; 0]);
    assert_ne!(trace(&mut cobalt, &params(1_000_000), 4000, 6000, 49), [0; 0]);
}

/// The last packet of a queue is sent, however long it has waited.
#[test]
fn the_last_packet_of_a_queue_is_never_dropped() {
    let mut rig = Rig::new(&Config::default());
    for step in 0..200 {
        rig.now = Time::from_ms(step * 50);
        rig.arrive(packet(1, 1000));
        rig.now += Time::from_ms(49);
        assert!(rig.serve().is_ok());
    }
    // with one behind it, which has waited as long, it is
    let mut sent = 0;
    for step in 200..400 {
        rig.now = Time::from_ms(step * 50);
        rig.arrive(packet(1, 1000));
        rig.arrive(packet(1, 1000));
        rig.now += Time::from_ms(49);
        while rig.serve().is_ok() {
            sent += 1;
        }
    }
    assert!((200..400).contains(&sent), "{sent}");
}

/// A full buffer takes from the longest queue, its oldest packet first; who
/// would be the longest with its arrival, and has nothing there, loses that.
#[test]
fn a_full_buffer_takes_from_the_longest_queue() {
    let mut rig = Rig::new(&Config::default());
    rig.room = Room { packets: u32::MAX, bytes: 5000 };
    for seq in 0..4 {
        rig.arrive(Packet { seq, ..packet(1, 1000) });
    }
    rig.arrive(packet(2, 600));
    assert_eq!(rig.arrive(packet(2, 600)), Verdict::Pass, "flow 1 gives 1000 B up");
    while rig.waiting.take_evicted().is_some() {}
    let left: Vec<u32> =
        rig.waiting.iter().filter(|(_, held)| held.flow == 1).map(|(_, held)| held.seq).collect();
    assert_eq!(left, [1, 2, 3]);
    assert_eq!(rig.arrive(packet(3, 5000)), Verdict::Drop(Reason::QueueFull));
    assert_eq!(rig.arrive(packet(3, 800)), Verdict::Pass);
    while rig.waiting.take_evicted().is_some() {}
    assert_eq!(rig.waiting.bytes(), 5000);
    // BLUE is at work by now: draws that it does not act on
    rig.draw = Box::new(Always(0.999));
    let mut sent: Vec<u32> = Vec::new();
    while rig.waiting.packets() > 0 {
        sent.push(rig.serve().expect("there is no shaper").flow);
    }
    sent.sort_unstable();
    assert_eq!(sent, [1, 1, 1, 2, 2, 3]);
}

/// Of queues that would be equally long the arrival's own gives way.
#[test]
fn of_equals_the_own_queue_gives_way() {
    let mut rig = Rig::new(&Config::default());
    rig.room = Room { packets: 3, bytes: u64::MAX };
    for flow in [1, 1, 2, 2] {
        assert_eq!(rig.arrive(packet(flow, 1000)), Verdict::Pass);
    }
    while rig.waiting.take_evicted().is_some() {}
    let flows: Vec<u32> = rig.waiting.iter().map(|(_, held)| held.flow).collect();
    assert_eq!(flows, [1, 1, 2]);
}

/// The `ce_threshold` of FQ-CoDel in Linux, by hand: of four packets that come at once and leave at 0,
/// 1, 2 and 3 ms, those of L4S are marked above 1 ms, no others, and without it none at all.
#[test]
fn l4s_packets_are_marked_above_a_delay_of_their_own() {
    let marked = |ce_threshold, flags: Flags| {
        let mut rig = Rig::new(&Config { ce_threshold, ..Config::default() });
        for _ in 0..4 {
            rig.arrive(Packet { flags, ..packet(1, 1000) });
        }
        [0, 1000, 2000, 3000].map(|at| {
            rig.now = us(at);
            rig.serve().expect("no shaper").flags.has(Flags::CE)
        })
    };
    let ect = Flags::DATA.with(Flags::ECT);
    let threshold = Some(Time::from_ms(1));
    assert_eq!(marked(threshold, ect.with(Flags::L4S)), [false, false, true, true]);
    assert_eq!(marked(threshold, ect), [false; 4]);
    assert_eq!(marked(None, ect.with(Flags::L4S)), [false; 4]);
}

/// Linux: a quantum is 1/4096 s at the shaper's rate, from 300 B to 1514 B.
#[test]
fn the_quantum_follows_the_bandwidth() {
    let quantum =
        |bps| Config { bandwidth: Some(Rate::from_bps(bps)), ..Config::default() }.quantum();
    assert_eq!(Config::default().quantum(), 1514);
    assert_eq!(
        [quantum(1_000_000), quantum(32_768_000), quantum(1_000_000_000)],
        [300, 1000, 1514]
    );
}

/// A parameter out of range is refused by its name.
#[test]
fn parameters_out_of_range_are_refused() {
    let cases = [
        ("bandwidth", Config { bandwidth: Some(Rate::from_bps(999)), ..Config::default() }),
        ("overhead", Config { overhead: -65, ..Config::default() }),
        ("mpu", Config { mpu: Size::from_bytes(257), ..Config::default() }),
        ("queues", Config { queues: 0, ..Config::default() }),
        ("queues", Config { queues: 1023, ..Config::default() }),
        ("ways", Config { ways: 0, ..Config::default() }),
        ("target", Config { target: Time::ZERO, ..Config::default() }),
        ("interval", Config { interval: Time::from_secs(101), ..Config::default() }),
    ];
    for (field, config) in cases {
        let refused = config.check(LINK).map_err(|(field, _)| field.to_string());
        assert_eq!(refused, Err(field.to_owned()), "{config:?}");
    }
    assert_eq!(Config::default().check(LINK), Ok(()));
}
