//! Drills for hosts behind [`crate::host`]: which of two ends sends what, and when, over a path that
//! loses, holds, doubles and marks the datagrams that a script names.
//!
//! A script is text: a sentence about it, and then situations. It expects what a document asks for.
//! Where the stack does something else, a line `here` says what, and the drill fails when the stack
//! no longer does that. `crates/stacks/tests/drills/README.md` in the repository has the form.

mod claims;
mod path;
mod script;
mod subject;
mod timeline;

use claims::DrillVerdict;
use script::DrillSituation;
pub use subject::{PathEnd, Subject, WordReader};
use timeline::Timeline;

/// Plays every situation of `script` with each of its stacks, which `subject` makes by their names.
/// Says how many it has played, or all that is wrong, with what the two ends have sent.
pub fn play(
    script: &str,
    subject: &mut dyn FnMut(&str) -> Option<Subject>,
) -> Result<usize, String> {
    let mut wrong = Vec::new();
    let mut played = 0;
    for situation in script::situations(script)? {
        for &name in &situation.stacks {
            let Some(subject) = subject(name) else {
                return Err(format!(
                    "{}: no stack has the name {name}: mend the line `stacks`",
                    situation.name
                ));
            };
            let timeline = path::run(&situation, subject)?;
            let told = complaints(&situation, name, &timeline)?;
            if !told.is_empty() {
                let (told, all) = (told.join("\n    "), timeline.told());
                wrong.push(format!("{} ({name})\n    {told}\n  it was\n{all}", situation.name));
            }
            played += 1;
        }
    }
    if wrong.is_empty() { Ok(played) } else { Err(format!("\n{}", wrong.join("\n"))) }
}

/// What a stack does otherwise than the situation says.
fn complaints(
    situation: &DrillSituation<'_>,
    name: &str,
    timeline: &Timeline,
) -> Result<Vec<String>, String> {
    let mut wrong = Vec::new();
    let mut otherwise = false;
    for claim in &situation.claims {
        let line = claim.line;
        let here = claim.here.iter().find(|here| here.stack.is_none_or(|only| only == name));
        let Some(here) = here else {
            if !claim.asked.holds(claim.side, timeline)? {
                let seen = timeline.within(claim.side, claim.asked.from, claim.asked.to);
                wrong.push(format!("{line}: {seen}"));
            }
            continue;
        };
        otherwise = true;
        if claim.asked.holds(claim.side, timeline)? {
            wrong.push(format!("{line}: does now what is asked for; take away its line `here`"));
        } else if !here.does.holds(claim.side, timeline)? {
            let seen = timeline.within(claim.side, here.does.from, here.does.to);
            wrong.push(format!("{line}: differs in another way than `here`: {seen}"));
        }
    }
    let differs = match &situation.verdict {
        DrillVerdict::Same => false,
        DrillVerdict::Differs(stacks) => stacks.is_empty() || stacks.contains(&name),
    };
    if otherwise != differs {
        let what = if differs { "no line `here` says how" } else { "a line `here` differs" };
        wrong.push(format!("the verdict does not fit: {what} for {name}"));
    }
    Ok(wrong)
}
