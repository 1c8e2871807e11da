//! What a page may ask, and how answers are written.

use serde::{Deserialize, Serialize};

/// A scenario as a page hands it in.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// The text, in TOML.
    pub text: String,
    /// The name that messages give it.
    #[serde(default = "named")]
    pub name: String,
    /// Settings that replace its values: keys joined by dots, and values in TOML.
    #[serde(default)]
    pub settings: Vec<(String, String)>,
}

fn named() -> String {
    "scenario".to_owned()
}

/// A request.
#[derive(Deserialize, Debug)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// The schema of documents.
    Schema,
    /// The columns of the tables, with units and meanings.
    Columns,
    /// What a scenario is, or what is wrong with it.
    Check {
        /// The scenario.
        document: Document,
    },
    /// Builds a run.
    Start {
        /// The scenario.
        document: Document,
        /// The seed of its random draws, in digits: a page has no whole numbers of 64 bits.
        seed: String,
    },
    /// Runs on until a simulated time or for so many events.
    Advance {
        /// Seconds of simulated time; without it, to the end.
        until_s: Option<f64>,
        /// Events.
        events: u64,
    },
    /// What can be seen of the run now.
    Glance {
        /// The most windows.
        windows: usize,
    },
    /// Ends the run, complete or not, and says what tables there are.
    Finish,
    /// A table of the run that was ended.
    Table {
        /// Its name.
        name: String,
        /// Its form.
        #[serde(default)]
        form: Form,
    },
}

/// The form of a table.
#[derive(Deserialize, Clone, Copy, Default, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// An object of columns.
    #[default]
    Json,
    /// Text with a row for each line.
    Csv,
}

/// Something wrong with a document.
#[derive(Serialize, Debug)]
pub struct Problem {
    /// What is wrong.
    pub what: String,
    /// How to correct it.
    pub help: String,
    /// The text in which it is: the name of the document, or `--set`.
    pub of: Option<String>,
    /// The line, from 1.
    pub line: Option<usize>,
}

/// Why there is no answer.
#[derive(Serialize, Debug, Default)]
pub struct Refused {
    /// In one line.
    pub error: String,
    /// What is wrong with the document.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
    /// The same as the command line shows it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub report: String,
    /// Files that the document refers to and that were not handed in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

impl Refused {
    /// For a reason in one line.
    pub fn because(error: impl ToString) -> Refused {
        Refused { error: error.to_string(), ..Refused::default() }
    }
}
