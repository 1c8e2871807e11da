//! A class's TCP: its profile, and what differs from it.

use tidegate_core::units::{Size, Time};

use super::Check;
use crate::control::TcpControl;
use crate::document::transport::{Bound, DelayedAck, SynRetriesDoc, TcpDoc};
use crate::profile::{
    HyStart, LossRule, MaxRto, Profile, Recovery, SynRetries, Tcp, rfc6928, usual_delay,
};

/// Longest retransmission timeout.
const HOUR: Time = Time::from_secs(3600);

/// The effective settings; spells them out in `doc`.
pub(super) fn effective(
    check: &mut Check<'_>,
    class: &str,
    transport: &str,
    doc: &mut TcpDoc,
) -> Tcp {
    let tcp = overridden(doc, transport);
    let path = |key| ["traffic", class, "transport", transport, key];
    let mut within = |key, holds: bool, range: &str| {
        check.require(holds, &path(key), "out of range", &format!("write {range}"));
    };
    within("mss", (64..=65_000).contains(&tcp.mss), "64B to 65000B");
    within("header", (20..=500).contains(&tcp.header), "20B to 500B");
    within("initial_rto", (Time::from_ms(1)..=HOUR).contains(&tcp.initial_rto), "1ms to 1h");
    within("min_rto", (Time::from_ns(1000)..=HOUR).contains(&tcp.min_rto), "1us to 1h");
    if let MaxRto::Absolute(max) = tcp.max_rto {
        let least = tcp.min_rto.max(tcp.initial_rto);
        let range = format!("{least} (the other timeouts) to 24h, or a factor, as in \"64x\"");
        within("max_rto", max >= least && max <= HOUR * 24, &range);
    }
    within("initial_window", (1..=1_000_000).contains(&tcp.initial_window), "1 to 1000000");
    within("initial_ssthresh", tcp.initial_ssthresh > 0, "1 or more, or \"none\"");
    within("window", tcp.window > 0, "1 or more, or \"none\"");
    let ack = tcp.delayed_ack.unwrap_or(HOUR);
    within("delayed_ack", (Time::from_ns(1000)..=HOUR).contains(&ack), "1us to 1h, true or false");
    within("tick", tcp.tick <= Time::from_secs(10), "0s to 10s");
    let jitter = tcp.syn_retries.jitter;
    within("syn_retries", (0.0..=1.0).contains(&jitter), "a jitter from 0 to 1");
    let sack = tcp.recovery == Recovery::Sack;
    if doc.sack.is_some_and(|wanted| wanted != sack) {
        check.refuse(&path("sack"), "contradicts `recovery`", "leave one of them out");
    }
    for (key, asked, holds) in
        [("prr", doc.prr, tcp.prr), ("rack", doc.rack, tcp.rack), ("tlp", doc.tlp, tcp.tlp)]
    {
        let what = "goes with TCP's own repair by selective acknowledgements";
        let help = "set `sack = true` with the loss rule rfc, or leave it out";
        check.require(asked != Some(true) || holds, &path(key), what, help);
    }
    let what = format!("means nothing beside `{transport}`");
    let help = "leave it out, or write { tcp = { control = ... } }";
    check.require(transport == "tcp" || doc.control.is_none(), &path("control"), what, help);
    let cubic = tcp.control == TcpControl::Cubic;
    let stray = !cubic && doc.hystart.is_some_and(|asked| asked != HyStart::None);
    check.require(!stray, &path("hystart"), "only cubic has it", "leave it out");
    let stray = tcp.control != TcpControl::Bbr && doc.unpaced.is_some_and(|asked| asked > 0);
    check.require(!stray, &path("unpaced"), "only bbr paces", "leave it out");
    *doc = spelled_out(doc, &tcp, transport);
    tcp
}

/// Leaves to TCP what goes with its own way of repair.
pub(super) fn plain_repair(doc: &mut TcpDoc) {
    doc.prr.get_or_insert(false);
    doc.rack.get_or_insert(false);
    doc.tlp.get_or_insert(false);
}

fn recovery(doc: &TcpDoc, base: &Tcp) -> Recovery {
    match (doc.recovery, doc.sack) {
        (Some(recovery), _) => recovery,
        (None, Some(true)) => Recovery::Sack,
        (None, Some(false)) if base.recovery == Recovery::Sack => Recovery::NewReno,
        (None, _) => base.recovery,
    }
}

fn delayed_ack(doc: &TcpDoc, base: &Tcp) -> Option<Time> {
    match doc.delayed_ack {
        None => base.delayed_ack,
        Some(DelayedAck::Usual(false)) => None,
        Some(DelayedAck::Usual(true)) => Some(usual_delay(doc.profile)),
        Some(DelayedAck::UpTo(time)) => Some(time),
    }
}

fn hystart(doc: &TcpDoc, base: &Tcp, control: TcpControl) -> HyStart {
    match control {
        TcpControl::Cubic => doc.hystart.unwrap_or(base.hystart),
        _ => HyStart::None,
    }
}

/// The RFC's initial window is a number of bytes, so it follows the segment.
fn initial_window(doc: &TcpDoc, base: &Tcp, mss: u32) -> u32 {
    let usual = if doc.profile == Profile::Rfc { rfc6928(mss) } else { base.initial_window };
    doc.initial_window.unwrap_or(usual)
}

fn overridden(doc: &TcpDoc, transport: &str) -> Tcp {
    let base = doc.profile.tcp();
    let bytes = |size: Size| u32::try_from(size.bytes()).unwrap_or(u32::MAX);
    let mss = doc.mss.map_or(base.mss, bytes);
    let recovery = recovery(doc, &base);
    let syn = doc.syn_retries.clone().unwrap_or_default();
    let control = match doc.control {
        // a transport with a control of its own: what it leaves to TCP is Reno
        _ if transport != "tcp" => TcpControl::Reno,
        None => base.control,
        Some(control) => control,
    };
    let loss_rule = doc.loss_rule.unwrap_or(base.loss_rule);
    // ns-2's agents count acknowledgements
    let counted = if loss_rule == LossRule::Rfc { base.byte_counting } else { 0 };
    // these stand on the scoreboard, and on the rules of RFC 6675
    let scored = recovery == Recovery::Sack && loss_rule == LossRule::Rfc;
    let own_repair = matches!(transport, "blitz" | "rcp");
    let scored = |asked: Option<bool>, usual| asked.unwrap_or(usual) && scored && !own_repair;
    Tcp {
        profile: base.profile,
        mss,
        header: doc.header.map_or(base.header, bytes),
        initial_rto: doc.initial_rto.unwrap_or(base.initial_rto),
        min_rto: doc.min_rto.unwrap_or(base.min_rto),
        max_rto: doc.max_rto.unwrap_or(base.max_rto),
        initial_window: initial_window(doc, &base, mss),
        initial_ssthresh: doc.initial_ssthresh.map_or(base.initial_ssthresh, |bound| bound.0),
        window: doc.window.map_or(base.window, |bound| bound.0),
        recovery,
        delayed_ack: delayed_ack(doc, &base),
        quick_acks: doc.quick_acks.unwrap_or(base.quick_acks),
        unpaced: doc.unpaced.unwrap_or(base.unpaced),
        nagle: doc.nagle.unwrap_or(base.nagle),
        fin_waits: doc.fin_waits.unwrap_or(base.fin_waits),
        fin_rides: doc.fin_rides.unwrap_or(base.fin_rides),
        lost_syn: doc.lost_syn.unwrap_or(base.lost_syn),
        timer_rule: doc.timer_rule.unwrap_or(base.timer_rule),
        loss_rule,
        limited_transmit: doc.limited_transmit.unwrap_or(limited(loss_rule, &base)),
        tick: doc.tick.unwrap_or(base.tick),
        timestamps: doc.timestamps.unwrap_or(base.timestamps),
        handshake: doc.handshake.unwrap_or(base.handshake),
        ecn: doc.ecn.unwrap_or(base.ecn),
        control,
        byte_counting: doc.byte_counting.map_or(counted, |bound| bound.0),
        hystart: hystart(doc, &base, control),
        prr: scored(doc.prr, base.prr),
        rack: scored(doc.rack, base.rack),
        tlp: scored(doc.tlp, base.tlp),
        syn_retries: SynRetries {
            linear: syn.linear.unwrap_or(base.syn_retries.linear),
            limit: syn.limit.map_or(base.syn_retries.limit, |bound| bound.0),
            jitter: syn.jitter.unwrap_or(base.syn_retries.jitter),
        },
    }
}

/// Whether limited transmit is usual under a loss rule.
fn limited(loss_rule: LossRule, base: &Tcp) -> bool {
    match loss_rule {
        LossRule::Rfc => base.limited_transmit,
        LossRule::FullTcp => false,
        LossRule::OneWay => true,
    }
}

fn spelled_out(doc: &TcpDoc, tcp: &Tcp, transport: &str) -> TcpDoc {
    let own = transport == "tcp";
    TcpDoc {
        profile: doc.profile,
        mss: Some(Size::from_bytes(tcp.mss.into())),
        header: Some(Size::from_bytes(tcp.header.into())),
        initial_rto: Some(tcp.initial_rto),
        min_rto: Some(tcp.min_rto),
        max_rto: Some(tcp.max_rto),
        initial_window: Some(tcp.initial_window),
        initial_ssthresh: Some(Bound(tcp.initial_ssthresh)),
        window: Some(Bound(tcp.window)),
        recovery: Some(tcp.recovery),
        sack: None,
        delayed_ack: Some(tcp.delayed_ack.map_or(DelayedAck::Usual(false), DelayedAck::UpTo)),
        quick_acks: Some(tcp.quick_acks),
        unpaced: (tcp.control == TcpControl::Bbr).then_some(tcp.unpaced),
        nagle: Some(tcp.nagle),
        fin_waits: Some(tcp.fin_waits),
        fin_rides: Some(tcp.fin_rides),
        lost_syn: Some(tcp.lost_syn),
        timer_rule: Some(tcp.timer_rule),
        loss_rule: Some(tcp.loss_rule),
        limited_transmit: Some(tcp.limited_transmit),
        tick: Some(tcp.tick),
        timestamps: Some(tcp.timestamps),
        handshake: Some(tcp.handshake),
        ecn: Some(tcp.ecn),
        control: own.then_some(tcp.control),
        byte_counting: Some(Bound(tcp.byte_counting)),
        hystart: (tcp.control == TcpControl::Cubic).then_some(tcp.hystart),
        prr: Some(tcp.prr),
        rack: Some(tcp.rack),
        tlp: Some(tcp.tlp),
        syn_retries: Some(SynRetriesDoc {
            linear: Some(tcp.syn_retries.linear),
            limit: Some(Bound(tcp.syn_retries.limit)),
            jitter: Some(tcp.syn_retries.jitter),
        }),
    }
}
