//! Prints the JSON schema of scenario documents: `docs/scenario.schema.json`.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(tidegate_model::schema().as_bytes())
}
