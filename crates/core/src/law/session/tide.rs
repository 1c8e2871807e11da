//! Tide: admits as many sessions as the link can serve, and leaves long flows alone (ours;
//! docs/tide.md).
//!
//! | symbol       | here           | unit       | value               |
//! |--------------|----------------|------------|---------------------|
//! | `E`          | `epoch`        | s          | 0.5                 |
//! | `g`          | `g`            | 1          | 0.4                 |
//! | `gamma`      | `gamma`        | 1          | 0.1                 |
//! | `w`, `v`     | `w`, `v`       | 1          | 2, 1                |
//! | `K`          | `young.packets`| packets    | 255, or 0.3 s of the link |
//! | `k_0`, `k_1` | `k0`, `k1`     | 1          | 0.75, 0.9           |
//! | `alpha_min`  | `alpha_min`    | sessions/s | `min(C / K, 5)`     |
//! | `C`          | `rate`         | packets/s  | of the link, full packets |
//! | `A`, `d`     | `admitted`, `ended` | sessions/s | counted        |
//! | `u`, `l`     | `busy`, `lost` | 1          | measured            |
//! | `s`          | `share`        | 1          | share of bytes of young flows |
//! | `sigma`      | `sigma`        | 1          | how far sessions fill the link: 0 to 1 |
//! | `alpha`      | `alpha`        | sessions/s | allowed             |
//! | `f_x`        | `Filters`      |            | smoothed value of `x` |
//!
//! **Rate.** On a link with idle time, admissions divided by the busy share are capacity divided by
//! the work per session, though neither is known; that is how many sessions fit. A saturated link
//! does not show it: there completions limit the allowance, `gamma` probes for more, and loss
//! reduces it. **Load.** Loss and completions count only as far as sessions fill the link. `s` is
//! the share of the queued bytes that belong to the first `K` packets of flows admitted here
//! ([`super::young`]); `sigma` rises from 0 to 1 as `s` rises from `k0` to `k1`. What long flows
//! fill is left to TCP, and sessions may grow to `k0` of the link. **Clients.** Where clients are admitted
//! ([`super::clients`]), sessions are clients: `A` counts those let in, and the end of a connection
//! counts for the part that it is of a client. Where visits are, sessions are connections. **Refusals.** The same sessions
//! stay refused when they retry ([`super::eligibility`]).
//!
//! At the end of an epoch:
//! 1. measure `A`, `d`, `u`, `l`, `s`, and smooth them with weight `g`, or a smaller one with which
//!    the memory spans `FEW` sessions, by visits `FEW OF_A_VISIT` connections. An opening packet or
//!    an end that the queue dropped, before or after it accepted it, does not count;
//! 2. if open: stay open until sessions fill the link and it is saturated, or loses more than it
//!    idles;
//! 3. if closed and saturated: allow the mean of admissions and, weighted with `sigma`,
//!    completions, times `1 + gamma` (or times the growth that `k0` leaves to sessions), less the
//!    loss;
//! 4. if closed and not saturated: allow what fits by the busy share, less the loss;
//! 5. adapt the window of eligible flows.
//!
//! **Few sessions.** Where less than a session is admitted in an epoch, an epoch tells nothing of
//! what fits. By visits the same holds of `OF_A_VISIT` connections, which come and end together. And
//! the least allowance must not be more than fits: a link carries at least `C / K` sessions of `K`
//! packets.
//!
//! Limits: sessions longer than `K` packets count as long flows, so a link full of them is not
//! closed. Once closed, the gate stays closed; where the load is small its allowance exceeds the
//! arrivals. Sessions that opened out of sight of the gate (before it started, in tunnels) count as
//! long flows too.

use crate::law::settings::{Refused, Setting};
use crate::law::{Controller, Decision, Fault, Step, View};
use crate::units::{Rate, Time};

use super::clients::{self, Who};
use super::eligibility::{BYPASS, Window};
use super::{Carry, Counts, Knobs, Limiter, PACKET, young};

/// Sessions that the smoothed measures span at least, once the gate has closed (ours; chosen by
/// looking at results, docs/tide.md).
const FEW: f64 = 4.0;

/// Connections of a visit: a browser opens up to six to a server, and ends them together.
const OF_A_VISIT: f64 = 6.0;

/// Least weight of the newest epoch in the smoothed measures: they forget within half a minute.
const LEAST_WEIGHT: f64 = 0.02;

/// Bounds of the least allowance that follows from the link, sessions/s.
const FLOOR: (f64, f64) = (0.02, 5.0);

crate::settings! {
    /// Parameters of tide.
    "Tide":
    epoch: Time = "500ms" ["1ms" to "1h"] "Length of an epoch" ("ours");
    g: f64 = 0.4 [0.001 to 1] "Weight of the newest epoch in the smoothed measures, 1: no smoothing" ("ours; below 0.5 small swings die away");
    gamma: f64 = 0.1 [0 to 1] "Growth that a saturated link is probed with, as a share of its current load" ("ours");
    w: f64 = 2 [0 to 10] "Weight of loss at a saturated link" ("ours");
    v: f64 = 1 [0 to 10] "Weight of loss at a link with idle time" ("ours");
    k0: f64 = 0.75 [0 to 1] "Share of the link that sessions may fill whatever the loss" ("ours; 0: long flows are not distinguished");
    k1: f64 = 0.9 [0.000001 to 1.01] "Share of the link above which sessions alone are the load, above `k0`" ("ours");
    room: bool = true "Whether sessions may grow to the share `k0` of the link although long flows fill it" ("false: an ablation");
    alpha_min: Setting = { Setting::Auto } [0.001 to 1e9] "Least allowance, sessions per second; default auto: as many of the longest sessions (`young.packets` packets of 1500 B) as the link carries, 5 at most" ("ours");
    eligibility: bool = true "Whether a refused session stays refused when it retries" ("false: an ablation");
    bypass: f64 = { BYPASS } [0 to 2] "Fill level of the bucket from which on sessions that are not eligible are admitted too, above 1: never; default 0.9" ("ours");
    admit: Who = { Who::Visits } "What the law admits: `visits`, each connection with those of its client that follow the end of one, `clients`, each with all of its connections, or `connections`, each by itself; clients and visits need `eligibility`; default visits";
    clients: clients::Config = { clients::Config::default() } quiet "How clients are let in, with `admit = \"clients\"` or `\"visits\"`";
    young: young::Config = { young::Config::default() } "Which flows count as sessions";
    limiter: Limiter = { Limiter::SavingBucket } "How admissions are spread over an epoch; default saving-bucket";
}

impl Config {
    /// Which limiter the datapath uses.
    pub fn limiter(&self) -> Limiter {
        self.limiter
    }

    /// Whether every value is in range.
    ///
    /// # Errors
    /// The field that is not, and what would be right.
    pub fn check(&self) -> Result<(), Refused> {
        self.in_range()?;
        if self.k1 <= self.k0 {
            let what = format!("{} is not above k0, {}: write a larger number", self.k1, self.k0);
            return Err(("k1".into(), what));
        }
        clients::checked(self.admit, &self.clients, self.eligibility)?;
        self.young.check().map_err(|(field, what)| (format!("young.{field}").into(), what))
    }
}

/// The measurements of one epoch.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    admitted: f64,
    ended: f64,
    busy: f64,
    lost: f64,
    young_bytes: f64,
    bytes: f64,
    /// Whether the link was never idle and the queue never empty.
    saturated: bool,
}

impl Epoch {
    fn of(counts: &Counts, view: &View<'_>, epoch: Time, window: &Window) -> Epoch {
        let per_s = |n: u64| n as f64 / epoch.secs();
        Epoch {
            admitted: match window.over_clients() {
                true => per_s(counts.let_in),
                false => per_s(counts.kept()),
            },
            ended: window.unit() * per_s(counts.ended()),
            busy: (view.busy.secs() / epoch.secs()).min(1.0),
            lost: view.lost(),
            young_bytes: counts.young_bytes as f64,
            bytes: counts.bytes as f64,
            saturated: view.min_queue_packets > 0,
        }
    }
}

/// Smoothed measures: f_A, f_d, f_u, f_l, f_Y, f_B.
#[derive(Clone, Copy, Debug)]
struct Smoothed {
    admitted: f64,
    ended: f64,
    busy: f64,
    lost: f64,
    young_bytes: f64,
    bytes: f64,
}

impl Smoothed {
    fn of(now: &Epoch) -> Smoothed {
        let &Epoch { admitted, ended, busy, lost, young_bytes, bytes, .. } = now;
        Smoothed { admitted, ended, busy, lost, young_bytes, bytes }
    }

    fn take(&mut self, now: &Epoch, g: f64) {
        let before = self.ended;
        let to = Smoothed::of(now);
        let smooth = |f: &mut f64, x: f64| *f += g * (x - *f);
        smooth(&mut self.admitted, to.admitted);
        smooth(&mut self.ended, to.ended);
        smooth(&mut self.busy, to.busy);
        smooth(&mut self.lost, to.lost);
        smooth(&mut self.young_bytes, to.young_bytes);
        smooth(&mut self.bytes, to.bytes);
        // sessions are too young to end: their number is not a mean of completions
        if before == 0.0 {
            self.ended = to.ended;
        }
    }
}

/// Tide.
#[derive(Clone, Debug)]
pub struct Tide {
    config: Config,
    /// None before the first epoch has ended.
    filters: Option<Smoothed>,
    /// The allowance, once the gate has closed.
    alpha: Option<f64>,
    window: Window,
    carry: Carry,
}

impl Tide {
    /// With parameters that have passed [`Config::check`].
    pub fn new(config: Config) -> Tide {
        let window = Window::over(config.admit, &config.clients, config.epoch);
        let carry = Carry::default();
        Tide { config, filters: None, alpha: None, window, carry }
    }

    /// Step 1: updates the filters with the newest epoch.
    fn filter(&mut self, now: &Epoch) -> Smoothed {
        let mut filters = self.filters.unwrap_or_else(|| Smoothed::of(now));
        let Config { g, epoch, .. } = self.config;
        let few = match self.config.admit {
            Who::Visits => FEW * OF_A_VISIT,
            Who::Clients | Who::Connections => FEW,
        };
        let spans = self.alpha.map_or(g, |alpha| alpha * epoch.secs() / few);
        filters.take(now, g.min(spans.max(LEAST_WEIGHT)));
        self.filters = Some(filters);
        filters
    }

    /// How far sessions are the load: 0, not at all; 1, they alone.
    fn sigma(&self, share: f64) -> f64 {
        let Config { k0, k1, .. } = self.config;
        ((share - k0) / (k1 - k0)).clamp(0.0, 1.0)
    }

    /// The least allowance, sessions/s.
    fn least(&self, rate: Rate) -> f64 {
        let (low, high) = FLOOR;
        let longest = PACKET * self.config.young.packets_at(rate);
        let fits = (rate.bytes_per_s() / longest).clamp(low, high);
        self.config.alpha_min.or(fits) * self.window.unit()
    }

    /// Steps 2 to 4: the next allowance (none: everything is admitted) and the phase.
    fn decide(&self, now: &Epoch, f: &Smoothed, least: f64) -> (Option<f64>, &'static str) {
        let Config { gamma, w, v, k0, .. } = self.config;
        // a ratio of means: a mean of ratios lags behind at a step
        let share = if f.bytes > 0.0 { f.young_bytes / f.bytes } else { 0.0 };
        let sigma = self.sigma(share);
        let room = if self.config.room { k0 / share.max(0.02) } else { 0.0 };
        let loss = w * now.lost * sigma;
        let (alpha, phase) = if self.alpha.is_none() {
            if sigma == 0.0 || !(now.saturated || loss > 1.0 - now.busy) {
                return (None, "open");
            }
            (f.admitted.min(now.ended.max(f.ended)), "close")
        } else if now.saturated {
            let mean = f.admitted - sigma * (f.admitted - f.ended).max(0.0);
            (mean * (1.0 + gamma).max(room) * (1.0 - loss.min(0.5)), "saturated")
        } else {
            let fits = f.admitted / f.busy.max(0.02);
            (fits * room.max(1.0) * (1.0 - (v * f.lost * sigma).min(0.5)), "spare")
        };
        (Some(alpha.max(least)), phase)
    }

    /// Step 5, and the knobs of the next epoch.
    fn set(&mut self, alpha: f64, now: Time, counts: &Counts, knobs: &mut Knobs) {
        let Config { epoch, eligibility, bypass, .. } = self.config;
        let allowed = alpha * epoch.secs();
        knobs.allow(self.carry.whole(allowed), epoch);
        if !eligibility {
            return;
        }
        if self.alpha.is_none() {
            self.window.close(allowed, counts);
        } else {
            self.window.follow(allowed, counts);
        }
        self.window.set(bypass, now, knobs);
    }
}

impl Controller<Knobs, Counts> for Tide {
    fn start(&mut self, now: Time, knobs: &mut Knobs) -> Result<Time, Fault> {
        knobs.open();
        Ok(now.saturating_add(self.config.epoch))
    }

    fn update(&mut self, now: Time, view: &View<'_>, counts: &Counts, knobs: &mut Knobs) -> Step {
        let epoch = self.config.epoch;
        self.window.count(counts);
        let seen = Epoch::of(counts, view, epoch, &self.window);
        let filters = self.filter(&seen);
        let (alpha, phase) = self.decide(&seen, &filters, self.least(view.rate));
        let from = filters.ended * epoch.secs();
        let set = alpha.map_or(f64::INFINITY, |alpha| alpha * epoch.secs());
        if let Some(alpha) = alpha {
            self.set(alpha, now, counts, knobs);
        }
        self.window.renew(knobs);
        knobs.young = self.config.young.packets_at(view.rate) as u32;
        self.alpha = alpha;
        Ok((now.saturating_add(epoch), Some(Decision { phase, set, from })))
    }
}
