//! The menu: services that a node offers to active packets (lgc, 2.1 and 4.1).
//!
//! A packet names a service by its number and contains no code. An operator adds a service by
//! implementing [`Service`], putting it on a [`Menu`], and naming it in the configuration of nodes.

mod filter;
mod trace;

use super::service::Service;

/// A constructor of a service.
pub type Maker = fn() -> Box<dyn Service>;

/// The available services.
pub struct Menu {
    makers: Vec<Maker>,
}

impl Menu {
    /// The built-in services.
    pub fn built_in() -> Menu {
        Menu { makers: vec![filter::make, trace::make] }
    }

    /// The menu with one more service.
    #[must_use]
    pub fn with(mut self, maker: Maker) -> Menu {
        self.makers.push(maker);
        self
    }

    /// The names of all services.
    pub fn names(&self) -> Vec<&'static str> {
        self.makers.iter().map(|make| make().name()).collect()
    }

    /// New instances of the services with these names.
    pub fn choose(&self, names: &[String]) -> Vec<Box<dyn Service>> {
        let all = self.makers.iter().map(|make| make());
        all.filter(|service| names.iter().any(|name| name == service.name())).collect()
    }
}
