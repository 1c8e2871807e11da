//! A viewer of video, who asks for one segment after the other over one connection.
//!
//! The connection stays open between segments, with its window and its round-trip times. The
//! first request goes out when the connection is open, each further one when the segment before
//! has come and one more fits into the buffer. Segments are whole packets.

use tidegate_core::units::Time;
use tidegate_model::columns::{Category, Column, VideoRow};
use tidegate_model::scenario::{Scenario, Video};

use super::carrier::Asked;
use super::desk::{App, Desk};
use super::player::Player;
use crate::names::names;
use crate::transport::table::NewFlow;

/// One viewer at its connection.
pub(super) struct Viewer {
    film: Video,
    player: Player,
    flow: NewFlow,
    slot: u32,
    /// When the viewer asks for the next segment.
    wake: Time,
    gone: bool,
}

impl Viewer {
    pub(super) fn new(film: Video, flow: &NewFlow, now: Time) -> Viewer {
        let player = Player::new(now);
        Viewer { film, player, flow: *flow, slot: 0, wake: Time::NEVER, gone: false }
    }

    /// Asks for the next segment.
    fn ask(&mut self, desk: &mut Desk<'_, '_>) {
        self.player.ask(desk.now(), &self.film);
        let packets = self.film.packets.get(self.player.level).copied().unwrap_or(1);
        let bytes = u64::from(packets) * u64::from(desk.class(self.flow.class).tcp.mss);
        let last = self.player.asked == self.film.segments;
        let tag = self.player.asked;
        desk.ask(self.slot, &[Asked { bytes, last, server: Time::ZERO, tag }]);
    }
}

impl App for Viewer {
    fn start(&mut self, desk: &mut Desk<'_, '_>) {
        desk.open(&self.flow);
    }

    fn begun(&mut self, slot: u32, row: u32) {
        (self.slot, self.flow.row) = (slot, row);
    }

    fn opened(&mut self, _slot: u32, desk: &mut Desk<'_, '_>) {
        self.ask(desk);
    }

    fn arrived(&mut self, _slot: u32, _tag: u32, desk: &mut Desk<'_, '_>) {
        let (now, class) = (desk.now(), desk.class(self.flow.class));
        let (mss, patience) = (class.tcp.mss, class.patience);
        let packets = self.film.packets.get(self.player.level).copied().unwrap_or(1);
        let bytes = u64::from(packets) * u64::from(mss);
        let next = self.player.fetched(now, bytes, &self.film);
        if let Some(patience) = patience {
            let leaves = self.player.leaves(patience, &self.film);
            desk.leave_at(self.slot, leaves);
        }
        match next {
            Some(at) if at <= now => self.ask(desk),
            Some(at) => {
                self.wake = at;
                desk.wake_at(at);
            }
            None => {}
        }
    }

    fn over(&mut self, _slot: u32, desk: &mut Desk<'_, '_>) {
        // of a film that has come whole the rest is still played
        if !self.gone && self.player.fetched < self.film.segments {
            self.player.leave(desk.now(), &self.film);
        }
        self.gone = true;
    }

    fn wake(&mut self, desk: &mut Desk<'_, '_>) {
        if self.wake == desk.now() && !self.gone {
            self.wake = Time::NEVER;
            self.ask(desk);
        }
    }

    fn finish(&mut self, now: Time) {
        self.player.leave(now, &self.film);
    }
}

/// The `video` table; no column where no class has video.
pub(super) fn columns<'a>(
    viewers: impl Iterator<Item = &'a Viewer>,
    scenario: &Scenario,
) -> Vec<Column> {
    if scenario.traffic.iter().all(|class| class.video().is_none()) {
        return Vec::new();
    }
    let rows = viewers.map(|Viewer { player, flow, .. }| VideoRow {
        flow: flow.row.into(),
        class: Category(flow.class.into()),
        startup_s: player.startup.map_or(f64::NAN, Time::secs),
        stalls: player.stalls,
        stalled_s: player.stalled.secs(),
        played_s: player.played.secs(),
        segments: player.fetched,
        rate_mean_bps: player.mean_rate(),
        switches: player.switches,
    });
    VideoRow::columns(rows, |column| names(scenario, column))
}
