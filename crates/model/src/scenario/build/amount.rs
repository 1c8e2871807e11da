//! Values that may be drawn: sizes, numbers and times.

use tidegate_core::law::settings::number;
use tidegate_core::units::Size;

use super::cdf;
use super::problems::{Check, MAX_SIZE};
use crate::document::amount::{self, Quantity, Spread};
use crate::document::size::{Distribution, SizeDoc};
use crate::scenario::{Amount, Shape};

/// The shape of a distribution of sizes, and its mean in bytes; none where it is unlimited or
/// its file cannot be read. `path` is the path of the size.
pub(super) fn size(check: &mut Check<'_>, path: &[&str], doc: &SizeDoc) -> Option<(Shape, f64)> {
    let inner = |kind: &'static str, key| [path, &[kind, key]].concat();
    let mut mean = |size: Size, kind: &'static str| {
        let holds = size.bytes() >= 1 && size <= MAX_SIZE;
        let place = inner(kind, "mean");
        let place = if kind == "constant" { path } else { &place };
        let what = format!("a size of {size} is out of range");
        check.require(holds, place, what, "write a size from 1B to 1000GB");
        size.bytes() as f64
    };
    Some(match &doc.0 {
        Distribution::Unlimited => return None,
        Distribution::Constant(size) => (Shape::Constant, mean(*size, "constant")),
        Distribution::Exponential(law) => (Shape::Exponential, mean(law.mean, "exponential")),
        Distribution::Pareto(law) => {
            let mean = mean(law.mean, "pareto");
            (pareto(check, &inner("pareto", "shape"), law.shape), mean)
        }
        Distribution::Lognormal(law) => {
            let mean = mean(law.mean, "lognormal");
            (lognormal(check, &inner("lognormal", "sigma"), law.sigma), mean)
        }
        Distribution::Empirical(law) => {
            let scaled = law.mean.map(|size| mean(size, "empirical"));
            let (own, points) = cdf::read(check, &inner("empirical", "file"), &law.file)?;
            (Shape::Empirical(points), scaled.unwrap_or(own))
        }
    })
}

/// A number or a time; its mean must lie in `range`, of which `help` speaks.
pub(super) fn amount<M: Quantity>(
    check: &mut Check<'_>,
    path: &[&str],
    doc: &amount::Amount<M>,
    range: std::ops::RangeInclusive<f64>,
    help: &str,
) -> Amount {
    let inner = |kind: &'static str, key| [path, &[kind, key]].concat();
    let (shape, mean, place) = match &doc.0 {
        Spread::Constant(value) => (Shape::Constant, value, path.to_vec()),
        Spread::Exponential(law) => (Shape::Exponential, &law.mean, inner("exponential", "mean")),
        Spread::Pareto(law) => {
            let shape = pareto(check, &inner("pareto", "shape"), law.shape);
            (shape, &law.mean, inner("pareto", "mean"))
        }
        Spread::Lognormal(law) => {
            let shape = lognormal(check, &inner("lognormal", "sigma"), law.sigma);
            (shape, &law.mean, inner("lognormal", "mean"))
        }
    };
    let mean = mean.number();
    check.require(range.contains(&mean), &place, "out of range", help);
    Amount { shape, mean }
}

fn pareto(check: &mut Check<'_>, path: &[&str], shape: f64) -> Shape {
    let what = format!("{} is out of range", number(shape));
    let holds = shape > 1.0 && shape <= 1000.0;
    let help = "write a shape above 1 (else there is no mean), up to 1000";
    check.require(holds, path, what, help);
    Shape::Pareto(shape)
}

fn lognormal(check: &mut Check<'_>, path: &[&str], sigma: f64) -> Shape {
    let what = format!("{} is out of range", number(sigma));
    let holds = sigma > 0.0 && sigma <= 10.0;
    check.require(holds, path, what, "write a sigma above 0, up to 10");
    Shape::Lognormal(sigma)
}
