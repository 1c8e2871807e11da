//! People who use the network, as they are written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_core::keys;
use tidegate_core::units::Time;

use super::free::Names;
use crate::profile::named;
use crate::registry::control::TransportDoc;

keys! {
    /// People who use the network in an evening, each behind one address.
    ///
    /// What they do becomes classes of traffic, which `tidegate show` prints: `pages`, `video`,
    /// `calls`, `meetings` (each with `-up` for what the guests send), `updates` and `photos`.
    "GuestsDoc" as pub(crate) GuestsDoc = "a table, as in { place = \"hotel\", people = 300 }":
    place: Venue = required "Where they are, which says what part of them does what: hotel, school, cafe, village, ship or office";
    people: u32 = required [1 to 10000] "How many people are there";
    pages: Option<f64> = none [0 to 1] "Share of the people who read web pages, at any one moment; default: that of the place" + "A share above 0 is at least one person.";
    video: Option<f64> = none [0 to 1] "Share of the people who watch video; default: that of the place";
    calls: Option<f64> = none [0 to 1] "Share of the people who are in a call by voice; default: that of the place";
    meetings: Option<f64> = none [0 to 1] "Share of the people who are in a call with pictures; default: that of the place";
    updates: Option<f64> = none [0 to 1] "Share of the people whose devices load an update; default: that of the place";
    photos: Option<f64> = none [0 to 1] "Share of the people who send photos; default: that of the place";
    begin: Time = "30s" [from "1ms"] "Time within which they begin, each at an instant drawn evenly";
    transport: Option<TransportDoc> = none "Transport of what is not sent by UDP; default tcp with the profile linux and CUBIC";
    users: Option<Names> = none "Among links that are spelled out, the node of the guests, or a list of them";
    servers: Option<Names> = none "Among links that are spelled out, the node that they talk to, or a list of them";
}

named! {
    /// A kind of place.
    Venue:
    /// Guests in the evening: video above all.
    Hotel = "hotel",
    /// Pupils in the morning: pages above all.
    School = "school",
    /// People with their telephones and laptops for an hour.
    Cafe = "cafe",
    /// Homes that share one line in the evening.
    Village = "village",
    /// Crew and passengers behind a satellite link.
    Ship = "ship",
    /// People at work: meetings above all.
    Office = "office",
}

keys! {
    /// Which people a class of traffic belongs to.
    "PeopleDoc" as pub(crate) PeopleDoc = "a table, as in { of = 300 }":
    of: u32 = required [1 to 10000] "How many people there are" + "Person number 7 is the same in all classes: one address, and one pair of hosts.";
    same: Option<String> = none "A class whose people these are too, in the same order; default: the order is drawn for each class by itself";
}
