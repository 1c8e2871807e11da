//! Tables as JSON and CSV.

use serde_json::{Value, json};
use tidegate_model::columns::{Column, Data};

/// An object of columns in their order; a column of words has each word once (`words`), and which
/// one stands where (`at`).
pub fn json(columns: &[Column]) -> String {
    let column = |column: &Column| {
        let values = match &column.data {
            Data::F64(values) => json!(values),
            Data::U64(values) => json!(values),
            Data::U32(values) => json!(values),
            Data::Category { codes, names } => json!({ "words": names, "at": codes }),
        };
        format!("{}:{values}", Value::from(column.name))
    };
    format!("{{{}}}", columns.iter().map(column).collect::<Vec<_>>().join(","))
}

/// Lines of a table; empty: there is no value.
pub fn csv(columns: &[Column]) -> String {
    let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
    let mut text = names.join(",") + "\n";
    for row in 0..columns.first().map_or(0, |column| column.data.rows()) {
        for (place, column) in columns.iter().enumerate() {
            if place > 0 {
                text.push(',');
            }
            cell(&mut text, &column.data, row);
        }
        text.push('\n');
    }
    text
}

fn cell(text: &mut String, data: &Data, row: usize) {
    match data {
        Data::F64(values) if values[row].is_nan() => {}
        Data::F64(values) => text.push_str(&values[row].to_string()),
        Data::U64(values) => text.push_str(&values[row].to_string()),
        Data::U32(values) => text.push_str(&values[row].to_string()),
        Data::Category { codes, names } => {
            let name = &names[codes[row] as usize];
            match name.contains([',', '"', '\n', '\r']) {
                true => text.extend(["\"", &name.replace('"', "\"\""), "\""]),
                false => text.push_str(name),
            }
        }
    }
}
