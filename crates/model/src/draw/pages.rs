//! What is on the pages of a user.
//!
//! The draws of a page come from streams named by the class, the user and the place of the page
//! among the user's. So a page has the same objects however long those before it took.

use rand_pcg::Pcg64;
use tidegate_core::units::Time;

use super::{MAX_FLOW, MAX_SEGMENTS, stream};
use crate::scenario::{Amount, Class, FlowSize};

/// Most objects of a page.
const MOST_OBJECTS: f64 = 10_000.0;
/// Longest time that is drawn, in seconds.
const LONGEST: f64 = 1e7;

/// One object of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Object {
    /// Its size in bytes, at least one.
    pub bytes: u64,
    /// How long the server takes to answer the request for it.
    pub server: Time,
}

/// One page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page {
    /// What is fetched first.
    pub document: Option<Object>,
    /// The objects, at least one.
    pub objects: Vec<Object>,
    /// From the loaded page to the next.
    pub think: Time,
}

impl Page {
    /// Page `number`, from 0, of user `user` of a class; none: the class has no pages. It starts
    /// at `start`, which matters where the mean size of objects changes over time.
    pub fn draw(seed: u64, class: &Class, user: u64, number: u32, start: Time) -> Option<Page> {
        let pages = class.pages()?;
        let FlowSize::Drawn { shape, mean } = &class.size else { return None };
        let named = |purpose| stream(seed, &class.name, &format!("{purpose} {user} {number}"));
        let (mut counts, mut sizes, mut times) = (named("objects"), named("sizes"), named("times"));
        let most = MAX_FLOW.min(u64::from(class.transport.payload()).saturating_mul(MAX_SEGMENTS));
        let size = Amount { shape: shape.clone(), mean: mean.value(start) };
        let think = pages.think.time(&mut times);
        let count = pages.objects.whole(&mut counts).clamp(1.0, MOST_OBJECTS) as usize;
        let mut object = |size: &Amount| Object {
            bytes: (size.whole(&mut sizes) as u64).clamp(1, most),
            server: pages.server.time(&mut times),
        };
        let document = pages.document.as_ref().map(&mut object);
        Some(Page { document, objects: (0..count).map(|_| object(&size)).collect(), think })
    }
}

impl Amount {
    /// A draw, rounded up to a whole number.
    fn whole(&self, random: &mut Pcg64) -> f64 {
        // a whole number must stay what it is after scaling by its mean and back
        libm::ceil(self.shape.draw(random) * self.mean * (1.0 - 1e-12))
    }

    /// A draw as a time.
    pub(super) fn time(&self, random: &mut Pcg64) -> Time {
        Time::from_secs_f64((self.shape.draw(random) * self.mean).min(LONGEST))
    }
}
