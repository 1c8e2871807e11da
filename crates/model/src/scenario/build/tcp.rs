//! A class's TCP: its profile, and what differs from it.

use tidegate_core::units::Time;

use super::problems::Check;
use crate::document::bound::DelayedAck;
use crate::profile::{HyStart, LossRule, MaxRto, Profile, Recovery, Start, Tcp, TcpDoc, rfc6928};
use crate::registry::control::TcpControl;

/// Longest retransmission timeout after back-off.
const DAY: Time = Time::from_secs(24 * 3600);

/// The effective settings; spells them out in `doc`.
pub(super) fn effective(
    check: &mut Check<'_>,
    class: &str,
    transport: &str,
    doc: &mut TcpDoc,
) -> Tcp {
    let tcp = overridden(doc, transport);
    let path = |key| ["traffic", class, "transport", transport, key];
    if let MaxRto::Absolute(max) = tcp.max_rto {
        let least = tcp.min_rto.max(tcp.initial_rto);
        let help = format!("write {least} (the other timeouts) to 24h, or a factor, as in \"64x\"");
        let holds = (least..=DAY).contains(&max);
        check.require(holds, &path("max_rto"), "out of range", &help);
    }
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
    let what = format!("has no effect with `{transport}`");
    let help = "leave it out, or write { tcp = { control = ... } }";
    check.require(transport == "tcp" || doc.control.is_none(), &path("control"), what, help);
    let cubic = tcp.control == TcpControl::Cubic;
    let stray = !cubic && doc.hystart.is_some_and(|asked| asked != HyStart::None);
    check.require(!stray, &path("hystart"), "only cubic has it", "leave it out");
    let stray = !is_bbr(&tcp) && doc.unpaced.is_some_and(|asked| asked > 0);
    check.require(!stray, &path("unpaced"), "goes with bbr and bbr3", "leave it out");
    let stray = doc.undo == Some(true) && !tcp.undo;
    let what = "goes with timestamps, rack and a control other than bbr3";
    let help = "set `timestamps` and `rack` with another control, or leave it out";
    check.require(!stray, &path("undo"), what, help);
    let stray = doc.shared_ticks == Some(true) && !tcp.timer_rule.of_linux();
    let what = "goes with the timer rule linux";
    check.require(
        !stray,
        &path("shared_ticks"),
        what,
        "leave it out, or write profile = \"linux\"",
    );
    check_start(check, &["traffic", class, "transport", transport], doc, &tcp);
    *doc = spelled_out(&tcp, transport);
    tcp
}

/// Whether the control can start in other ways than its own.
fn has_starts(tcp: &Tcp, transport: &str) -> bool {
    transport == "tcp" && matches!(tcp.control, TcpControl::Reno | TcpControl::Cubic)
}

/// What a class says of its start fits its control, and is whole.
fn check_start(check: &mut Check<'_>, at: &[&str], doc: &TcpDoc, tcp: &Tcp) {
    let path = |keys: &[&'static str]| [at, keys].concat();
    let asked = [
        ("start", doc.start.is_some_and(|start| start != Start::SlowStart)),
        ("paced_start", doc.paced_start == Some(true)),
        ("resume", doc.resume.is_some()),
    ];
    for (key, asked) in asked {
        let fits = !asked || has_starts(tcp, at[3]);
        let help = "leave it out, or write control = \"reno\" or \"cubic\"";
        check.require(fits, &path(&[key]), "goes with reno and cubic", help);
    }
    let both =
        tcp.start != Start::SlowStart && doc.hystart.is_some_and(|asked| asked != HyStart::None);
    check.require(!both, &path(&["hystart"]), "contradicts `start`", "leave one of them out");
    let saved = tcp.resume.window < u32::MAX;
    let what = "says nothing of the earlier round trip";
    let whole = !saved || tcp.resume.rtt > Time::ZERO;
    check.require(whole, &path(&["resume"]), what, "add `rtt`, as in rtt = \"100ms\"");
    let stray = !saved && doc.resume.as_ref().is_some_and(|doc| doc.rtt.is_some());
    let what = "says nothing of the earlier window";
    check.require(!stray, &path(&["resume"]), what, "add `window`, as in window = 400");
}

/// Whether the control is BBR, which has a setting for the start of its pacing.
fn is_bbr(tcp: &Tcp) -> bool {
    matches!(tcp.control, TcpControl::Bbr | TcpControl::Bbr3)
}

/// Leaves to TCP what goes with its own way of repair.
pub(super) fn plain_repair(doc: &mut TcpDoc) {
    doc.prr.get_or_insert(false);
    doc.rack.get_or_insert(false);
    doc.tlp.get_or_insert(false);
}

fn recovery(doc: &TcpDoc, profile: &TcpDoc) -> Option<Recovery> {
    let usual = match doc.sack {
        Some(true) => Some(Recovery::Sack),
        Some(false) if profile.recovery == Some(Recovery::Sack) => Some(Recovery::NewReno),
        _ => None,
    };
    doc.recovery.or(usual)
}

/// What a class has: what its document says, and where it says nothing what follows from the other
/// settings, or else the profile.
fn overridden(asked: &TcpDoc, transport: &str) -> Tcp {
    let profile = asked.profile.settings();
    let mut doc = asked.clone();
    doc.recovery = recovery(asked, &profile);
    if let (Some(DelayedAck::Usual(true)), Some(usual @ DelayedAck::UpTo(_))) =
        (asked.delayed_ack, profile.delayed_ack)
    {
        doc.delayed_ack = Some(usual);
    }
    // a transport with a control of its own: what it leaves to TCP is Reno
    if transport != "tcp" {
        doc.control = Some(TcpControl::Reno);
    }
    if let Some(retries) = &mut doc.syn_retries {
        retries.complete(profile.syn_retries.clone().unwrap_or_default());
    }
    if let Some(resume) = &mut doc.resume {
        resume.complete(profile.resume.clone().unwrap_or_default());
    }
    doc.complete(profile);
    let mut tcp = doc.used();
    // the RFC's initial window is a number of bytes, so it follows the segment
    if asked.initial_window.is_none() && tcp.profile == Profile::Rfc {
        tcp.initial_window = rfc6928(tcp.mss);
    }
    if tcp.loss_rule.of_ns2() {
        // ns-2's agents count acknowledgements, and only the one-way ones transmit early
        tcp.byte_counting = asked.byte_counting.map_or(0, |bound| bound.0);
        let usual = tcp.loss_rule == LossRule::OneWay;
        tcp.limited_transmit = asked.limited_transmit.unwrap_or(usual);
    }
    let replaced = tcp.start != Start::SlowStart && asked.hystart.is_none();
    if tcp.control != TcpControl::Cubic || replaced {
        tcp.hystart = HyStart::None;
    }
    // these stand on the scoreboard, and on the rules of RFC 6675
    let own_repair = matches!(transport, "blitz" | "rcp");
    if own_repair || tcp.recovery != Recovery::Sack || tcp.loss_rule.of_ns2() {
        (tcp.prr, tcp.rack, tcp.tlp) = (false, false, false);
    }
    // bbr3 undoes by a rule of its draft
    tcp.undo &= tcp.timestamps && tcp.rack && tcp.control != TcpControl::Bbr3;
    tcp
}

/// The settings with all defaults, but for those without effect here.
fn spelled_out(tcp: &Tcp, transport: &str) -> TcpDoc {
    let TcpDoc { control, hystart, unpaced, start, paced_start, resume, .. } = tcp.spelled_out();
    let starts = has_starts(tcp, transport);
    TcpDoc {
        control: control.filter(|_| transport == "tcp"),
        hystart: hystart.filter(|_| tcp.control == TcpControl::Cubic),
        unpaced: unpaced.filter(|_| is_bbr(tcp)),
        start: start.filter(|_| starts),
        paced_start: paced_start.filter(|_| starts),
        resume: resume.filter(|_| starts && tcp.resume.window < u32::MAX),
        ..tcp.spelled_out()
    }
}
