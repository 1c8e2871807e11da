//! Settings beside a document, as those of a command line: what a refusal says of them.

use crate::load::{BASE, loaded};

/// A text that reads like another value needs quotes, which the shell would take away.
#[test]
fn a_setting_for_a_text_says_how_its_quotes_stay() {
    let refused = loaded(BASE, &[("name", "100")]).unwrap_err().render(false);
    assert!(refused.contains("with quotes in quotes, as in '\"text\"'"), "{refused}");
    assert_eq!(loaded(BASE, &[("name", "\"100\"")]).unwrap().name, "100");
    let written = loaded(&BASE.replacen("name", "name = 100 #", 1), &[]).unwrap_err().render(false);
    assert!(written.contains("write a text in quotes"), "{written}");
}
