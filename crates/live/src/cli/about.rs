//! `tidegated about`: what this build can do.

use clap::Args;

use crate::fail::Failure;

/// Say which parts this build has
#[derive(Args, Debug)]
pub struct About {}

impl About {
    /// Prints the version and the parts.
    pub fn run(self) -> Result<(), Failure> {
        println!("tidegated {}", env!("CARGO_PKG_VERSION"));
        Ok(())
    }
}
