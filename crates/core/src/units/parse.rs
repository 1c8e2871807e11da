//! Written quantities: parsing, printing, and their use in documents.
//!
//! Each unit has one spelling. A spelling with different meanings in different tools (`mbps`,
//! `MB/s` and `mb/s`) is refused with both readings.

use std::fmt;
use std::str::FromStr;

use super::{Frequency, Length, Rate, Size, Time};

/// Why a written quantity was refused, and how to correct it.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{what}")]
pub struct UnitError {
    /// The problem, in one line.
    pub what: String,
    /// The correction.
    pub help: String,
}

impl UnitError {
    fn new(what: impl Into<String>, help: impl Into<String>) -> UnitError {
        UnitError { what: what.into(), help: help.into() }
    }
}

/// Splits `12.5Mbit` into its number and its unit.
fn split<'a>(text: &'a str, kind: &str, example: &str) -> Result<(f64, &'a str), UnitError> {
    let text = text.trim();
    let end = text
        .char_indices()
        .find(|&(i, c)| {
            let exponent = matches!(c, 'e' | 'E')
                && text[i + 1..].starts_with(|d: char| d.is_ascii_digit() || d == '-' || d == '+');
            let sign =
                matches!(c, '-' | '+') && (i == 0 || matches!(text.as_bytes()[i - 1], b'e' | b'E'));
            !(c.is_ascii_digit() || c == '.' || exponent || sign)
        })
        .map_or(text.len(), |(i, _)| i);
    let (number, unit) = (&text[..end], text[end..].trim());
    let value: f64 = number.parse().map_err(|_| {
        UnitError::new(
            format!("`{text}` is not a {kind}"),
            format!("write a number and a unit, as in `{example}`"),
        )
    })?;
    if value == f64::INFINITY {
        return Err(UnitError::new(
            format!("`{text}` is too large a {kind}"),
            format!("write a smaller number, as in `{example}`"),
        ));
    }
    if !value.is_finite() || value < 0.0 {
        return Err(UnitError::new(
            format!("a {kind} cannot be `{text}`"),
            format!("write a number that is not negative, as in `{example}`"),
        ));
    }
    Ok((value, unit))
}

/// Looks a unit up in `table`; the error lists the known units.
fn scale(
    unit: &str,
    table: &[(&str, f64)],
    kind: &str,
    text: &str,
    example: &str,
) -> Result<f64, UnitError> {
    if let Some(&(_, factor)) = table.iter().find(|(name, _)| *name == unit) {
        return Ok(factor);
    }
    if unit.starts_with(',') {
        let help = format!("write a point in the number, as in `{}`", text.replacen(',', ".", 1));
        return Err(UnitError::new(format!("`{text}` has a comma"), help));
    }
    let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
    let what = if unit.is_empty() {
        format!("`{text}` has no unit")
    } else {
        format!("`{unit}` is not a unit of {kind}")
    };
    Err(UnitError::new(what, format!("use one of {}, as in `{example}`", names.join(", "))))
}

const TIMES: &[(&str, f64)] = &[
    ("ps", 1.0),
    ("ns", 1e3),
    ("us", 1e6),
    ("ms", 1e9),
    ("s", 1e12),
    ("min", 6e13),
    ("h", 3.6e15),
];

impl FromStr for Time {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Time, UnitError> {
        let (value, unit) = split(text, "time", "20ms")?;
        let ps = value * scale(unit, TIMES, "time", text, "20ms")?;
        // 100 days: well inside 64 bits of picoseconds. Most settings have a lower limit of their
        // own.
        if ps > 8.64e18 {
            return Err(UnitError::new(
                format!("`{text}` is too long a time"),
                "write a shorter time",
            ));
        }
        Ok(Time((ps + 0.5) as u64))
    }
}

const RATES: &[(&str, f64)] = &[
    ("bit", 1.0),
    ("kbit", 1e3),
    ("Mbit", 1e6),
    ("Gbit", 1e9),
    ("Tbit", 1e12),
    ("bit/s", 1.0),
    ("kbit/s", 1e3),
    ("Mbit/s", 1e6),
    ("Gbit/s", 1e9),
    ("Tbit/s", 1e12),
    ("bps", 1.0),
    ("kbps", 1e3),
    ("Mbps", 1e6),
    ("Gbps", 1e9),
    ("Tbps", 1e12),
    ("B/s", 8.0),
    ("kB/s", 8e3),
    ("MB/s", 8e6),
    ("GB/s", 8e9),
];

impl FromStr for Rate {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Rate, UnitError> {
        let (value, unit) = split(text, "rate", "10Mbit")?;
        if matches!(
            unit,
            "mbps" | "gbps" | "mbit" | "gbit" | "Kbps" | "KBps" | "MBps" | "mBps" | "GBps"
        ) {
            let prefix = unit[..1].to_uppercase();
            let prefix = if prefix == "K" { "k".to_owned() } else { prefix };
            return Err(UnitError::new(
                format!("`{unit}` is read as bits by some tools and as bytes by others"),
                format!(
                    "write `{value}{prefix}bit` for bits per second or `{value}{prefix}B/s` for bytes per second"
                ),
            ));
        }
        let bps = value
            * scale(unit, &RATES[..5], "rate", text, "10Mbit")
                .or_else(|error| scale(unit, RATES, "rate", text, "10Mbit").map_err(|_| error))?;
        if !(1.0..=1e13).contains(&bps) {
            return Err(UnitError::new(
                format!("a rate of `{text}` is out of range"),
                "write a rate from 1bit to 10Tbit",
            ));
        }
        Ok(Rate((bps + 0.5) as u64))
    }
}

const SIZES: &[(&str, f64)] = &[
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];

impl FromStr for Size {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Size, UnitError> {
        let (value, unit) = split(text, "size", "10kB")?;
        let bytes = value * scale(unit, SIZES, "size", text, "10kB")?;
        if bytes > 1e15 {
            return Err(UnitError::new(
                format!("a size of `{text}` is out of range"),
                "write a size up to 1000000GB",
            ));
        }
        Ok(Size((bytes + 0.5) as u64))
    }
}

const FREQUENCIES: &[(&str, f64)] =
    &[("/s", 1.0), ("/ms", 1e3), ("/min", 1.0 / 60.0), ("/h", 1.0 / 3600.0)];

impl FromStr for Frequency {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Frequency, UnitError> {
        let (value, unit) = split(text, "frequency", "1000/s")?;
        let per_s = value * scale(unit, FREQUENCIES, "frequency", text, "1000/s")?;
        if per_s > 1e9 {
            return Err(UnitError::new(
                format!("a frequency of `{text}` is out of range"),
                "write a frequency up to 1000000000/s",
            ));
        }
        Ok(Frequency(per_s))
    }
}

impl FromStr for Length {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Length, UnitError> {
        let example = "217packets";
        let (value, unit) = split(text, "buffer length", example)?;
        match unit {
            "packets" | "packet" => {
                if libm::floor(value) != value || value > 1e8 {
                    return Err(UnitError::new(
                        format!("a buffer of `{text}` is out of range"),
                        "write a whole number of packets up to 100000000packets",
                    ));
                }
                Ok(Length::Packets(value as u32))
            }
            "bdp" if value <= 1e6 => Ok(Length::Bdp(value)),
            _ if SIZES.iter().any(|(name, _)| *name == unit) => {
                Ok(Length::Bytes(text.parse::<Size>()?.0))
            }
            _ if TIMES.iter().any(|(name, _)| *name == unit) => Ok(Length::Time(text.parse()?)),
            _ => Err(UnitError::new(
                format!("`{text}` is not a buffer length"),
                "write packets, bytes, a time or a multiple of the bandwidth-delay product, as in \
                 `217packets`, `64KiB`, `100ms` or `2bdp`",
            )),
        }
    }
}

/// Prints `value` in the largest unit of `table` in which it is at least one.
fn print(f: &mut fmt::Formatter<'_>, value: f64, table: &[(&str, f64)]) -> fmt::Result {
    let (unit, factor) =
        table.iter().rev().find(|(_, factor)| value >= *factor).unwrap_or(&table[0]);
    write!(f, "{}{}", value / factor, unit)
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Time::NEVER {
            return f.write_str("never");
        }
        if self.0 == 0 {
            return f.write_str("0s");
        }
        // above 2^51 ps the largest fitting unit may lose digits: use a unit that does not
        let exact = |unit: &(&str, f64)| {
            self.0 as f64 >= unit.1
                && format!("{}{}", self.0 as f64 / unit.1, unit.0).parse() == Ok(*self)
        };
        match TIMES[..5].iter().rev().find(|unit| exact(unit)) {
            Some((unit, factor)) => write!(f, "{}{unit}", self.0 as f64 / factor),
            None => print(f, self.0 as f64, &TIMES[..5]),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, self.0 as f64, &RATES[..5])
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, self.0 as f64, &SIZES[..4])
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.0)
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Length::Packets(packets) => write!(f, "{packets}packets"),
            Length::Bytes(bytes) => Size(*bytes).fmt(f),
            Length::Bdp(factor) => write!(f, "{factor}bdp"),
            Length::Time(time) => time.fmt(f),
        }
    }
}

macro_rules! written {
    ($type:ty, $name:literal, $pattern:literal, $example:literal) => {
        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl serde::de::Visitor<'_> for Visitor {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str(concat!("a ", $name, " with its unit, as in \"", $example, "\""))
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(|error: UnitError| {
                            E::custom(format!("{}\n{}", error.what, error.help))
                        })
                    }
                }
                from.deserialize_str(Visitor)
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "description": concat!("A ", $name, ", as in \"", $example, "\""),
                    "pattern": $pattern,
                })
            }
        }
    };
}

written!(Time, "time", "^[0-9.eE+-]+ *(ps|ns|us|ms|s|min|h)$", "20ms");
written!(Rate, "rate", "^[0-9.eE+-]+ *([kMGT]?(bit(/s)?|bps)|[kMG]?B/s)$", "10Mbit");
written!(Size, "size", "^[0-9.eE+-]+ *([kMG]?B|[KMG]iB)$", "10kB");
written!(Frequency, "frequency", "^[0-9.eE+-]+ */(s|ms|min|h)$", "1000/s");
written!(
    Length,
    "buffer length",
    "^[0-9.eE+-]+ *(packets?|bdp|[kMG]?B|[KMG]iB|ps|ns|us|ms|s|min|h)$",
    "217packets"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_quantities_mean_what_the_units_say() {
        assert_eq!("10Mbit".parse(), Ok(Rate::from_bps(10_000_000)));
        assert_eq!("10Mbps".parse(), Ok(Rate::from_bps(10_000_000)));
        assert_eq!("1.5Gbit".parse(), Ok(Rate::from_bps(1_500_000_000)));
        assert_eq!("20ms".parse(), Ok(Time::from_ms(20)));
        assert_eq!("64KiB".parse(), Ok(Size::from_bytes(65_536)));
        assert_eq!("2bdp".parse(), Ok(Length::Bdp(2.0)));
        assert_eq!("1e3/s".parse(), Ok(Frequency::per_s(1000.0)));
    }

    #[test]
    fn a_spelling_with_two_meanings_is_refused_with_both() {
        let error = "10mbps".parse::<Rate>().unwrap_err();
        assert!(error.help.contains("10Mbit") && error.help.contains("10MB/s"), "{error:?}");
    }

    #[test]
    fn what_is_printed_parses_to_the_same() {
        for text in ["10Mbit", "1.5Gbit", "100kbit", "7bit"] {
            let rate: Rate = text.parse().unwrap();
            assert_eq!(rate.to_string().parse(), Ok(rate));
        }
        for ps in [9_007_199_254_740_993u64, 2_591_999_999_999_999_488, 8_640_000_000_000_000_000] {
            // the nearest number that 53 bits can hold, as parsing yields
            let time = Time::from_ps(ps as f64 as u64);
            assert_eq!(time.to_string().parse(), Ok(time), "{time}");
        }
        for text in ["98ms", "300s", "3.2us", "1ps", "0s"] {
            let time: Time = text.parse().unwrap();
            assert_eq!(time.to_string(), text);
            assert_eq!(time.to_string().parse(), Ok(time));
        }
    }
}
