//! Media of a class: what an encoder needs.

use tidegate_core::law::media::Encoder;

use super::problems::Check;
use crate::document::transport::UdpDoc;
use crate::scenario::Media;

/// The checked encoder of a class of UDP, if it has one; spells out where it starts.
pub(super) fn media(check: &mut Check<'_>, name: &str, udp: &mut UdpDoc) -> Option<Media> {
    let path = |key| ["traffic", name, "transport", "udp", "media", key];
    let most = udp.rate;
    let stray = udp.media.is_some() && udp.burst.is_some();
    let what = "has no effect with `media`, which sends frames";
    check.require(!stray, &["traffic", name, "transport", "udp", "burst"], what, "leave it out");
    let doc = udp.media.as_mut()?;
    let start = *doc.start.get_or_insert(doc.least);
    let help = "write a rate up to `rate` of the class";
    check.require(
        doc.least <= most,
        &path("least"),
        format!("{} is above {most}", doc.least),
        help,
    );
    let within = (doc.least..=most).contains(&start);
    let help = "write a rate from `least` to `rate` of the class";
    check.require(within, &path("start"), "out of range", help);
    let key_frames = doc.key_frames.as_ref().map(|keys| {
        let what = "would leave nothing for the frames between them";
        let fits = keys.size < f64::from(keys.every);
        check.require(fits, &path("key_frames"), what, "write a `size` below `every`");
        (keys.every, keys.size)
    });
    let bps = |rate: tidegate_core::units::Rate| rate.bps() as f64;
    let (least, most, start) = (bps(doc.least), bps(most), bps(start));
    Some(Media {
        control: doc.control.clone(),
        encoder: Encoder { least, most, start, frames: f64::from(doc.frames) },
        spread: doc.spread,
        reaction: doc.reaction,
        key_frames,
        feedback: doc.feedback,
    })
}
