//! The sizes of the frames of an encoder, after the statistical model of RFC 8593 (5).
//!
//! A frame has the rate over the frames in a second, times a draw about one from a Laplace
//! distribution. Draws are cut at 0 and 2, on both sides alike, so that their mean stays one. Frames
//! come at equal distances; the model of the RFC draws these too.

use rand_pcg::Pcg64;

use super::{stream, uniform};
use crate::scenario::Media;

/// The frames of one flow, drawn one after the other from a stream of its own.
#[derive(Debug)]
pub struct Frames {
    per_s: f64,
    spread: f64,
    key_frames: Option<(u32, f64)>,
    /// Frames so far.
    drawn: u64,
    random: Pcg64,
}

impl Frames {
    /// Those of flow `number` of a class, from 0.
    pub fn new(seed: u64, class: &str, number: u64, media: &Media) -> Frames {
        Frames {
            per_s: media.encoder.frames,
            spread: media.spread,
            key_frames: media.key_frames,
            drawn: 0,
            random: stream(seed, class, &format!("frames {number}")),
        }
    }

    /// The bytes of the next frame at a rate in bit/s, at least one.
    pub fn next(&mut self, rate: f64) -> u64 {
        let mean = rate / 8.0 / self.per_s * self.weight();
        self.drawn += 1;
        let draw = (1.0 + self.spread * laplace(&mut self.random)).clamp(0.0, 2.0);
        (mean * draw).max(1.0) as u64
    }

    /// The size of the next frame in mean sizes: others are smaller for a key frame.
    fn weight(&self) -> f64 {
        let Some((every, size)) = self.key_frames else { return 1.0 };
        let all = f64::from(every);
        if self.drawn.is_multiple_of(u64::from(every)) { size } else { (all - size) / (all - 1.0) }
    }
}

/// A draw from the Laplace distribution of mean 0 and scale 1.
fn laplace(random: &mut Pcg64) -> f64 {
    let twice = 2.0 * uniform(random);
    if twice <= 1.0 { libm::log(twice) } else { -libm::log((2.0 - twice).max(f64::MIN_POSITIVE)) }
}

#[cfg(test)]
mod tests {
    use tidegate_core::law::media::Encoder;
    use tidegate_core::law::media::laws::MediaLaw;
    use tidegate_core::units::Time;

    use super::*;

    fn frames(spread: f64, key_frames: Option<(u32, f64)>) -> Frames {
        let encoder = Encoder { least: 1e5, most: 1e6, start: 1e5, frames: 30.0 };
        let media = Media {
            control: MediaLaw::default(),
            encoder,
            spread,
            reaction: Time::ZERO,
            key_frames,
            feedback: Time::from_ms(100),
        };
        Frames::new(1, "test", 0, &media)
    }

    /// By hand: 1.2 Mbit/s at 30 frames are 5000 B; of ten frames one of 5.5 mean sizes leaves
    /// (10 - 5.5) / 9 = 0.5 for each of the others.
    #[test]
    fn a_key_frame_takes_from_the_others() {
        assert_eq!(frames(0.0, None).next(1.2e6), 5000);
        let mut keys = frames(0.0, Some((10, 5.5)));
        let found: Vec<u64> = (0..11).map(|_| keys.next(1.2e6)).collect();
        assert_eq!(found, [27_500, 2500, 2500, 2500, 2500, 2500, 2500, 2500, 2500, 2500, 27_500]);
    }

    /// A Laplace distribution of scale b has the mean deviation b; the error of the mean of 100000
    /// draws with b = 0.15 is 0.15 * sqrt(2) / 316 = 0.0007.
    #[test]
    fn sizes_have_their_mean_and_spread() {
        let mut drawn = frames(0.15, None);
        let sizes: Vec<f64> = (0..100_000).map(|_| drawn.next(24e6) as f64 / 1e5).collect();
        let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / 1e5;
        let (middle, off) = (
            mean(&mut sizes.iter().copied()),
            mean(&mut sizes.iter().map(|size| (size - 1.0).abs())),
        );
        assert!((middle - 1.0).abs() < 0.003 && (off - 0.15).abs() < 0.003, "{middle} {off}");
    }
}
