//! Parameters of GSS+GA: the paper's values where it gives them.

use crate::law::session::clients::{self, Who};
use crate::law::session::{Limiter, change};
use crate::law::settings::Refused;
use crate::units::Time;

crate::settings! {
    /// Parameters of GSS+GA.
    "GssGa":
    epoch: Time = "2s" ["1ms" to "1h"] "Length of an epoch" ("session-control, V-B");
    step_size: f64 = 20 [1 to 1e6] "First step of the bracket and factor of the slope, sessions per epoch" ("V-B");
    threshold: f64 = 100 [1 to 1e9] "Width of the bracket below which gradient ascent starts, sessions per epoch" ("V-B");
    alpha_min: f64 = 10 [1 to 1e9] "Least allowance, sessions per epoch" ("not in the paper");
    gold: f64 = 1.618 [1 to 10] "Growth of the bracket's steps" ("Algorithm 1");
    c: f64 = 0.3819 [0.05 to 0.5] "Golden section, share of the larger part" ("Algorithm 1");
    step_limit: f64 = 2 [0.05 to 1000] "Largest move of the ascent, in steps" ("not in the paper");
    probe: f64 = 5 [1 to 1e6] "Step of the ascent where the slope is unknown, sessions per epoch" ("not in the paper");
    skip: u32 = 0 [0 to 1000] "Epochs between a change of the allowance and the epoch that is measured" ("not in the paper");
    remeasure_after: u32 = 0 "After how many other points a point of the golden section is measured again, 0: never" ("not in the paper");
    ga: bool = true "Whether gradient ascent follows the golden section search" ("false: the search repeats, an ablation");
    restart: bool = true "Whether a sudden change of traffic restarts the search" ("false: an ablation");
    detector: change::Config = { change::Config::default() } "What counts as a sudden change";
    limiter: Limiter = { Limiter::Counter } "How admissions are spread over an epoch; default counter" ("which reproduces Table I");
    eligibility: bool = false "Whether a refused session stays refused when it retries; best with the limiter saving-bucket" ("ours");
    admit: Who = { Who::Connections } quiet "What the law admits: `connections`, each by itself, `clients`, each with all of its connections, or `visits`, each connection with those of its client that follow the end of one; needs `eligibility`; default connections";
    clients: clients::Config = { clients::Config::default() } quiet "How clients are let in, with `admit = \"clients\"` or `\"visits\"`";
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
        clients::checked(self.admit, &self.clients, self.eligibility)?;
        self.detector.check().map_err(|(field, what)| (format!("detector.{field}").into(), what))
    }
}
