//! Why a document is refused: what is wrong, where, and how to correct it.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// A location in one of the texts of a scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// Index of the text: 0 is the document, settings follow.
    pub text: usize,
    /// Bytes in the text.
    pub span: Range<usize>,
}

impl Place {
    /// The start of the document: the location of missing parts.
    pub const START: Place = Place { text: 0, span: 0..0 };
}

/// A problem.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Problem {
    /// What is wrong, in one line.
    pub what: String,
    /// How to correct it; a second line gives the meaning of the key.
    pub help: String,
    /// The location; none: the file as a whole.
    pub place: Option<Place>,
}

/// A problem, for those that show it in their own way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message<'a> {
    /// What is wrong, in one line.
    pub what: &'a str,
    /// How to correct it; a second line gives the meaning of the key.
    pub help: &'a str,
    /// The name of the text and the line, from 1; none: the text as a whole.
    pub place: Option<(&'a str, usize)>,
}

/// The lines around a location, for display.
#[derive(Clone, Debug)]
struct Excerpt {
    /// Name of the text.
    name: String,
    /// The affected lines, shortened if they are very long.
    lines: String,
    /// Number of the first line.
    first: usize,
    /// The location within `lines`.
    span: Range<usize>,
}

/// Why a scenario was refused: every problem with its location and how to correct it.
///
/// [`fmt::Display`] is the rendering without colours.
#[derive(Clone, Debug)]
pub struct Report {
    problems: Vec<(Problem, Option<Excerpt>)>,
}

impl std::error::Error for Report {}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

/// A text with its name, as messages show it.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    /// File name, or `--set`.
    pub name: String,
    /// The text itself.
    pub text: String,
    /// Number of its first line: only a part of a large file is stored.
    pub first: usize,
}

impl Report {
    /// Collects problems; `texts` are those that their locations refer to.
    pub(crate) fn new(problems: Vec<Problem>, texts: &[Text]) -> Report {
        let excerpt = |problem: &Problem| {
            let place = problem.place.as_ref()?;
            Some(Excerpt::cut(texts.get(place.text)?, &place.span))
        };
        let with_excerpt = |problem: Problem| {
            let excerpt = excerpt(&problem);
            let (what, help) = (printable(&problem.what), printable(&problem.help));
            (Problem { what, help, ..problem }, excerpt)
        };
        Report { problems: problems.into_iter().map(with_excerpt).collect() }
    }

    /// The problems, one line each, without their locations.
    pub fn messages(&self) -> impl Iterator<Item = &str> {
        self.problems.iter().map(|(problem, _)| problem.what.as_str())
    }

    /// The problems, each with its line.
    pub fn problems(&self) -> impl Iterator<Item = Message<'_>> {
        self.problems.iter().map(|(problem, excerpt)| Message {
            what: &problem.what,
            help: &problem.help,
            place: excerpt.as_ref().map(|excerpt| (excerpt.name.as_str(), excerpt.first)),
        })
    }

    /// The place of the first problem in the text `name`, and the problem with its remedy.
    pub(crate) fn first(&self, name: &str) -> (String, String) {
        let Some((problem, excerpt)) = self.problems.first() else { return Default::default() };
        let line = excerpt.as_ref().map(|excerpt| format!("{name}:{}", excerpt.first));
        let help = problem.help.lines().next().filter(|help| !help.is_empty());
        let help = help.map_or_else(String::new, |help| format!(": {help}"));
        (line.unwrap_or_else(|| name.to_owned()), format!("{}{help}", problem.what))
    }

    /// The full message: each problem with its line, a marker under the location, and how to
    /// correct it.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let render = |(problem, excerpt): &(Problem, Option<Excerpt>)| {
            let (help, note) = problem.help.split_once('\n').unwrap_or((&problem.help, ""));
            let mut group = Level::ERROR
                .primary_title(problem.what.as_str())
                .elements(excerpt.as_ref().map(Excerpt::snippet));
            for (level, text) in [(Level::HELP, help), (Level::NOTE, note)] {
                if !text.is_empty() {
                    group = group.element(level.message(text));
                }
            }
            renderer.render(&[group])
        };
        self.problems.iter().map(render).collect::<Vec<_>>().join("\n\n")
    }
}

/// A message that may quote a file which is no text, without what a terminal would obey.
fn printable(text: &str) -> String {
    text.replace(|letter: char| letter.is_control() && letter != '\n', "\u{fffd}")
}

/// Longest part of a line that is shown on each side of a location.
const CONTEXT: usize = 160;

/// The character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// The character boundary at or after `at`.
fn ceil(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}

impl Excerpt {
    /// Cuts the first line that `span` touches out of `text`.
    ///
    /// Spans are moved to character boundaries, so this works for any text.
    fn cut(text: &Text, span: &Range<usize>) -> Excerpt {
        let whole = text.text.as_str();
        let start = floor(whole, span.start.min(whole.len()));
        let from = whole[..start].rfind('\n').map_or(0, |at| at + 1);
        let to = whole[start..].find('\n').map_or(whole.len(), |at| start + at);
        let first = text.first + whole[..from].matches('\n').count();
        let end = ceil(whole, span.end.clamp(start, to));
        let left = ceil(whole, from.max(start.saturating_sub(CONTEXT)));
        let right = floor(whole, to.min(end.min(start + CONTEXT) + CONTEXT));
        Excerpt {
            name: text.name.clone(),
            lines: whole[left..right].to_owned(),
            first,
            span: start - left..end.min(right) - left,
        }
    }

    fn snippet(&self) -> Snippet<'_, annotate_snippets::Annotation<'_>> {
        Snippet::source(self.lines.as_str())
            .path(self.name.as_str())
            .line_start(self.first)
            .annotation(AnnotationKind::Primary.span(self.span.clone()))
    }
}
