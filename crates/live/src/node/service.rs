//! The menu: services that a node offers to active packets (lgc, 2.1 and 4.1).
//!
//! A packet names a service by its number and brings no code. An operator adds
//! one by implementing [`Service`], putting it on a [`Menu`], and naming it in
//! the configuration of the nodes that are to offer it.

mod filter;
mod trace;

use tidegate_core::active::Header;

use super::engine::Core;
use super::reason::Reason;

/// An active packet, as a service sees it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Its header; `previous` is the neighbour that it came from, or the node itself.
    pub header: Header,
    /// Its payload.
    pub payload: &'a [u8],
}

/// What becomes of a packet that was served.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It goes on towards its destination with this payload.
    Forward(Vec<u8>),
    /// It ends here, and did what it was for.
    Done,
    /// It is dropped.
    Drop(Reason),
}

/// A service on active packets.
pub trait Service: Send {
    /// What it is called in configurations.
    fn name(&self) -> &'static str;

    /// The types of service (TOS) that it serves.
    fn numbers(&self) -> &'static [u16];

    /// Serves a packet at a node; `node` says what time it is, what waits
    /// where, and sends packets.
    fn serve(&mut self, request: &Request<'_>, node: &mut Core) -> Answer;
}

/// Makes a service.
pub type Maker = fn() -> Box<dyn Service>;

/// The services that can be offered.
pub struct Menu {
    makers: Vec<Maker>,
}

impl Menu {
    /// What is built in.
    pub fn built_in() -> Menu {
        Menu { makers: vec![filter::make, trace::make] }
    }

    /// The same with another one.
    #[must_use]
    pub fn with(mut self, maker: Maker) -> Menu {
        self.makers.push(maker);
        self
    }

    /// Whether all of these are on it.
    ///
    /// # Errors
    /// The one that is not, and those that are.
    pub fn check(&self, names: &[String]) -> Result<(), String> {
        let known: Vec<_> = self.makers.iter().map(|make| make().name()).collect();
        match names.iter().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => {
                Err(format!("no service is called `{name}`: there are {}", known.join(", ")))
            }
        }
    }

    /// The services of these names.
    pub fn choose(&self, names: &[String]) -> Vec<Box<dyn Service>> {
        let all = self.makers.iter().map(|make| make());
        all.filter(|service| names.iter().any(|name| name == service.name())).collect()
    }
}
