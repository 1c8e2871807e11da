//! Errors of the program: what is wrong, where, and how to correct it.

use std::fmt::{self, Display};
use std::process::ExitCode;

/// How the program fails; the numbers are exit codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum FailureKind {
    /// The command was valid, but failed.
    Failed = 1,
    /// The command is invalid: an argument, or a file that it names.
    Usage = 2,
}

/// An error with its place and its remedy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// Where: a file with its line, an address, an argument.
    pub place: String,
    /// What is wrong.
    pub what: String,
    /// How to correct it; empty if unknown.
    pub remedy: String,
}

impl Failure {
    /// An invalid argument or file at `place`.
    pub fn usage(place: impl Display, what: impl Display) -> Failure {
        Failure::new(FailureKind::Usage, place, what)
    }

    /// A failure at `place`.
    pub fn failed(place: impl Display, what: impl Display) -> Failure {
        Failure::new(FailureKind::Failed, place, what)
    }

    fn new(kind: FailureKind, place: impl Display, what: impl Display) -> Failure {
        let (place, what) = (place.to_string(), what.to_string());
        Failure { kind, place, what, remedy: String::new() }
    }

    /// Adds a remedy.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Display) -> Failure {
        self.remedy = remedy.to_string();
        self
    }

    /// The exit code.
    pub fn code(&self) -> ExitCode {
        ExitCode::from(self.kind as u8)
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)?;
        if self.remedy.is_empty() { Ok(()) } else { write!(f, "\n  {}", self.remedy) }
    }
}

impl std::error::Error for Failure {}

/// Converts errors of other types into a [`Failure`].
pub trait At<T> {
    /// The same result, with `place` in its error.
    ///
    /// # Errors
    /// The error, converted.
    fn at(self, place: impl Display) -> Result<T, Failure>;
}

impl<T, E: Display> At<T> for Result<T, E> {
    fn at(self, place: impl Display) -> Result<T, Failure> {
        self.map_err(|error| Failure::failed(place, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The form of every error: place, problem, and the remedy on its own line.
    #[test]
    fn says_where_what_and_what_would_be_right() {
        let failure =
            Failure::usage("node.toml:3", "no such key `adress`").remedy("write `address`");
        assert_eq!(failure.to_string(), "node.toml:3: no such key `adress`\n  write `address`");
        assert_eq!(
            Failure::failed("127.0.0.1:9", "no answer").to_string(),
            "127.0.0.1:9: no answer"
        );
    }
}
