//! The player of one viewer: its buffer, its playback and its requests.
//!
//! The player does not handle packets. Playback drains the buffer by a second a
//! second; the buffer is computed when something happens, so that playing needs no
//! events. A request is repeated as a segment of TCP is: after the timeout of
//! RFC 6298, doubled each time.

use tidegate_core::law::video::Adaptation;
use tidegate_core::units::Time;
use tidegate_model::scenario::Video;

/// The state of playback.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Playback {
    /// Nothing is shown: at the start, or in a stall.
    Waiting { since: Time, buffered: Time },
    /// The video plays; the buffer is empty at this instant.
    Playing { dry: Time },
    /// Playback has ended.
    Over,
}

/// One viewer.
#[derive(Clone, Debug)]
pub(super) struct Player {
    opened: Time,
    playback: Playback,
    adaptation: Adaptation,
    /// The place in the ladder of the segment asked for last.
    pub(super) level: usize,
    /// Segments asked for, and how many of them have arrived.
    pub(super) asked: u32,
    pub(super) fetched: u32,
    asked_at: Time,
    /// How long it took until playback began.
    pub(super) startup: Option<Time>,
    pub(super) stalls: u32,
    pub(super) stalled: Time,
    pub(super) played: Time,
    pub(super) switches: u32,
    /// Sum of the rates of what was fetched, in bit/s.
    rates: u64,
}

impl Player {
    /// A viewer arrives.
    pub(super) fn new(now: Time) -> Player {
        Player {
            opened: now,
            playback: Playback::Waiting { since: now, buffered: Time::ZERO },
            adaptation: Adaptation::default(),
            level: 0,
            asked: 0,
            fetched: 0,
            asked_at: Time::ZERO,
            startup: None,
            stalls: 0,
            stalled: Time::ZERO,
            played: Time::ZERO,
            switches: 0,
            rates: 0,
        }
    }

    /// Brings what is shown up to date: the buffer may have run dry.
    fn catch_up(&mut self, now: Time, film: &Video) {
        let Playback::Playing { dry } = self.playback else { return };
        if dry >= now {
            return;
        }
        if self.fetched == film.segments {
            self.played = film.segment * u64::from(self.fetched);
            self.playback = Playback::Over;
            return;
        }
        self.stalls += 1;
        self.playback = Playback::Waiting { since: dry, buffered: Time::ZERO };
    }

    /// Playing time in the buffer.
    pub(super) fn buffered(&self, now: Time) -> Time {
        match self.playback {
            Playback::Waiting { buffered, .. } => buffered,
            Playback::Playing { dry } => dry.saturating_sub(now),
            Playback::Over => Time::ZERO,
        }
    }

    /// Asks for the next segment: chooses its rate.
    pub(super) fn ask(&mut self, now: Time, film: &Video) {
        let buffered = self.buffered(now);
        let level = self.adaptation.choose(&film.rule, &film.ladder, buffered);
        self.switches += u32::from(self.asked > 0 && level != self.level);
        self.level = level;
        self.asked += 1;
        self.asked_at = now;
    }

    /// The segment asked for has come, in so many bytes; says when to ask for
    /// the next one, if there is one.
    pub(super) fn fetched(&mut self, now: Time, bytes: u64, film: &Video) -> Option<Time> {
        self.catch_up(now, film);
        self.adaptation.fetched(&film.rule, bytes, now.saturating_sub(self.asked_at));
        self.fetched += 1;
        self.rates += film.ladder.get(self.level).map_or(0, |rate| rate.bps());
        let all = self.fetched == film.segments;
        self.playback = match self.playback {
            Playback::Waiting { since, buffered } => {
                let buffered = buffered + film.segment;
                if buffered >= film.start || all {
                    let waited = now.saturating_sub(since);
                    match self.startup {
                        None => self.startup = Some(now.saturating_sub(self.opened)),
                        Some(_) => self.stalled += waited,
                    }
                    Playback::Playing { dry: now + buffered }
                } else {
                    Playback::Waiting { since, buffered }
                }
            }
            Playback::Playing { dry } => Playback::Playing { dry: dry + film.segment },
            Playback::Over => Playback::Over,
        };
        // one more must fit
        let excess = (self.buffered(now) + film.segment).saturating_sub(film.buffer);
        (self.asked < film.segments).then(|| now + excess)
    }

    /// When a viewer of this patience leaves, as things stand.
    pub(super) fn leaves(&self, patience: Time, film: &Video) -> Time {
        match self.playback {
            _ if self.fetched == film.segments => Time::NEVER,
            Playback::Waiting { since, .. } => since.saturating_add(patience),
            Playback::Playing { dry } => dry.saturating_add(patience),
            Playback::Over => Time::NEVER,
        }
    }

    /// The viewer leaves, or the run ends.
    pub(super) fn leave(&mut self, now: Time, film: &Video) {
        self.catch_up(now, film);
        let shown = film.segment * u64::from(self.fetched);
        match self.playback {
            Playback::Waiting { since, buffered } => {
                if self.startup.is_some() {
                    self.stalled += now.saturating_sub(since);
                }
                self.played = shown.saturating_sub(buffered);
            }
            Playback::Playing { dry } => {
                self.played = shown.saturating_sub(dry.saturating_sub(now));
            }
            Playback::Over => {}
        }
        self.playback = Playback::Over;
    }

    /// Mean rate of what was fetched, in bit/s; NaN of nothing.
    pub(super) fn mean_rate(&self) -> f64 {
        if self.fetched == 0 { f64::NAN } else { self.rates as f64 / f64::from(self.fetched) }
    }
}

#[cfg(test)]
mod tests {
    use tidegate_core::law::video::Rule;
    use tidegate_core::units::Rate;

    use super::*;

    /// Segments of 4 s at 1 Mbit/s, a buffer of 10 s, playback from 8 s on.
    fn film(segments: u32) -> Video {
        let ladder = vec![Rate::from_bps(1_000_000)];
        let mut rule = Rule::default();
        rule.fill_in_defaults(&ladder, Time::from_secs(10), Time::from_secs(4));
        Video {
            packets: vec![346],
            ladder,
            segment: Time::from_secs(4),
            buffer: Time::from_secs(10),
            start: Time::from_secs(8),
            segments,
            rule,
        }
    }

    /// A viewer who comes at 0 s and whose segments come at these seconds; when each next one
    /// is asked for.
    fn watch(film: &Video, comes: &[u64]) -> (Player, Vec<Option<f64>>) {
        let mut player = Player::new(Time::ZERO);
        player.ask(Time::ZERO, film);
        let mut asks = Vec::new();
        for &second in comes {
            let next = player.fetched(Time::from_secs(second), 500_000, film);
            if let Some(at) = next {
                player.ask(at, film);
            }
            asks.push(next.map(Time::secs));
        }
        (player, asks)
    }

    /// By hand: segments at 1 and 3 s make 8 s, so playback begins at 3 s and would be dry at
    /// 11 s. With 8 s of 10 in the buffer the third may come once 2 s are played, at 5 s. It
    /// comes at 12 s, a second late: a stall from 11 s on; 4 s are too few, and with the fourth
    /// at 14 s it goes on, after 3 s. At 20 s 8 + 6 s are played.
    #[test]
    fn a_late_segment_is_a_stall() {
        let film = film(u32::MAX);
        let (mut player, asks) = watch(&film, &[1, 3, 12, 14]);
        assert_eq!(asks, [Some(1.0), Some(5.0), Some(12.0), Some(16.0)]);
        assert_eq!(player.startup, Some(Time::from_secs(3)));
        player.leave(Time::from_secs(20), &film);
        assert_eq!((player.stalls, player.stalled), (1, Time::from_secs(3)));
        assert_eq!(player.played, Time::from_secs(14));
    }

    /// A segment that comes at the very instant at which the buffer is empty is in time.
    #[test]
    fn a_segment_just_in_time_is_none() {
        let film = film(u32::MAX);
        let (player, _) = watch(&film, &[1, 3, 11]);
        assert_eq!(player.stalls, 0);
    }

    /// The end of the film is no stall: 3 segments play 12 s, whenever one looks.
    #[test]
    fn the_end_of_the_film_is_no_stall() {
        let film = film(3);
        let (mut player, asks) = watch(&film, &[1, 3, 6]);
        assert_eq!(asks.last(), Some(&None));
        assert_eq!(player.leaves(Time::from_secs(5), &film), Time::NEVER);
        player.leave(Time::from_secs(100), &film);
        assert_eq!((player.stalls, player.played), (0, Time::from_secs(12)));
    }

    /// A film of one segment begins though `start` is longer.
    #[test]
    fn a_short_film_begins_with_its_last_segment() {
        let (player, _) = watch(&film(1), &[2]);
        assert_eq!(player.startup, Some(Time::from_secs(2)));
    }

    /// A viewer with a patience of 5 s leaves 5 s after he came, and in a stall 5 s after it began.
    #[test]
    fn patience_counts_from_when_nothing_is_shown() {
        let film = film(u32::MAX);
        let patience = Time::from_secs(5);
        let (player, _) = watch(&film, &[]);
        assert_eq!(player.leaves(patience, &film), patience);
        let (player, _) = watch(&film, &[1, 3]);
        assert_eq!(player.leaves(patience, &film), Time::from_secs(16));
    }
}
