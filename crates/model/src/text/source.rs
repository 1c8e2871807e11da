//! The input: the text of a document, and the settings that replace its values.

/// A document and the name that messages give it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Name for messages: usually the file's.
    pub name: &'a str,
    /// The text, in TOML.
    pub text: &'a str,
}

/// One setting that replaces a value of the document, as in `--set KEY=VALUE`.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// Keys joined by dots, as in `traffic.web.size.mean`.
    pub key: &'a str,
    /// The value in TOML; a string may go without quotes.
    pub value: &'a str,
}

/// The settings of one variant: keys joined by dots, and values in TOML.
pub type Assignments = Vec<(String, String)>;

/// The documents of a file, each with the name of the table that it has, if it has one.
pub type Parts<T> = Vec<(Option<&'static str>, T)>;
