//! The digest of a run: names, types and bytes of its columns, the same on every machine.

use blake2::digest::consts::U20;
use blake2::{Blake2b, Digest};
use tidegate_model::columns::{Column, Data};

use crate::probe::Results;

/// Counts whose columns had 32 bits: a digest has them so where they fit, and stays what it was.
const ONCE_32_BITS: &[(&str, &[&str])] = &[
    ("flows", &["retransmitted_packets", "sent_packets"]),
    (
        "ports",
        &[
            "syn_arrived",
            "syn_refused",
            "syn_dropped",
            "marked",
            "data_arrived",
            "data_dropped",
            "arrived_packets",
            "departed_packets",
            "drops_queue_full",
            "drops_early",
            "drops_session_refused",
            "drops_evicted",
            "drops_custom",
            "drops_link_loss",
            "drops_connection",
            "drops_filtered",
            "drops_policed",
        ],
    ),
];

impl Results {
    /// A digest of the columns: two runs with the same digest have the same results, bit for bit.
    ///
    /// Tables that came later (`acks`, `udp`, `flow_window`, `rtt`, `class_rates`, `queues`) are no
    /// part of it: it says the same of a run as before they were.
    pub fn digest(&self) -> String {
        let always = [("flows", &self.flows), ("ports", &self.ports), ("events", &self.events)];
        let sometimes = [
            ("arrivals", &self.arrivals),
            ("flow_series", &self.flow_series),
            ("class_series", &self.class_series),
            ("queue_series", &self.queue_series),
            ("video", &self.video),
            ("pages", &self.pages),
            ("objects", &self.objects),
        ];
        let sometimes = sometimes.into_iter().filter(|(_, columns)| has_rows(columns));
        digest(always.into_iter().chain(sometimes))
    }
}

fn has_rows(columns: &[Column]) -> bool {
    columns.first().is_some_and(|column| column.data.rows() > 0)
}

fn digest<'a>(tables: impl Iterator<Item = (&'a str, &'a Vec<Column>)>) -> String {
    let mut hash = Blake2b::<U20>::new();
    for (table, columns) in tables {
        for column in columns {
            add(&mut hash, table, column);
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Adds a column: a line with its name, type, length and names, and then its values.
fn add(hash: &mut Blake2b<U20>, table: &str, column: &Column) {
    let narrow =
        ONCE_32_BITS.iter().any(|(of, names)| *of == table && names.contains(&column.name));
    let mut begin = |kind: &str, count: usize, names: &[String]| {
        let names = names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
        hash.update(format!("{table}.{}:{kind}:{count}:[{names}]\n", column.name));
    };
    match &column.data {
        Data::F64(values) => {
            begin("<f8", values.len(), &[]);
            bytes(hash, values, |value| value.to_le_bytes());
        }
        Data::U64(values) if narrow && values.iter().all(|value| value >> 32 == 0) => {
            begin("<u4", values.len(), &[]);
            bytes(hash, values, |value| (*value as u32).to_le_bytes());
        }
        Data::U64(values) => {
            begin("<u8", values.len(), &[]);
            bytes(hash, values, |value| value.to_le_bytes());
        }
        Data::U32(values) => {
            begin("<u4", values.len(), &[]);
            bytes(hash, values, |value| value.to_le_bytes());
        }
        Data::Category { codes, names } => {
            begin("<u4", codes.len(), names);
            bytes(hash, codes, |value| value.to_le_bytes());
        }
    }
}

fn bytes<T, const N: usize>(hash: &mut Blake2b<U20>, values: &[T], of: fn(&T) -> [u8; N]) {
    let mut piece = Vec::with_capacity(N * 512);
    for some in values.chunks(512) {
        piece.clear();
        piece.extend(some.iter().flat_map(of));
        hash.update(&piece);
    }
}

/// A name in quotes, as digests have always had it: single ones, or double ones around a single one.
fn quoted(name: &str) -> String {
    let quote = if name.contains('\'') && !name.contains('"') { '"' } else { '\'' };
    let mut text = String::from(quote);
    for letter in name.chars() {
        match letter {
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            _ if letter == quote => text.extend(['\\', quote]),
            _ if letter < ' ' || letter == '\x7f' => {
                text.push_str(&format!("\\x{:02x}", u32::from(letter)));
            }
            _ => text.push(letter),
        }
    }
    text.push(quote);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(table: &str, columns: Vec<Column>) -> String {
        digest([(table, &columns)].into_iter())
    }

    fn column(name: &'static str, data: Data) -> Column {
        Column { name, data }
    }

    /// Results with a row in these tables, and none in the others.
    fn results(with: &[&str]) -> Results {
        let table = |name: &str| match with.contains(&name) {
            true => vec![column("time_s", Data::F64(vec![1.0]))],
            false => Vec::new(),
        };
        Results {
            flows: table("flows"),
            ports: table("ports"),
            events: table("events"),
            arrivals: table("arrivals"),
            flow_window: table("flow_window"),
            rtt: table("rtt"),
            class_rates: table("class_rates"),
            queues: table("queues"),
            flow_series: table("flow_series"),
            class_series: table("class_series"),
            queue_series: table("queue_series"),
            acks: table("acks"),
            udp: table("udp"),
            video: table("video"),
            pages: table("pages"),
            objects: table("objects"),
            port_totals: table("port_totals"),
            packet_hops: 0,
            delivered_packets: 0,
        }
    }

    /// Tables that came with applications and series are part of the digest where they have rows;
    /// those that only tell more of the same run are not.
    #[test]
    fn the_digest_is_of_the_tables_that_it_had_and_of_new_traffic() {
        let plain = results(&["flows"]).digest();
        for table in ["video", "pages", "objects", "arrivals", "flow_series"] {
            assert_ne!(results(&["flows", table]).digest(), plain, "{table}");
        }
        for table in ["acks", "udp", "flow_window", "rtt", "class_rates", "queues", "port_totals"] {
            assert_eq!(results(&["flows", table]).digest(), plain, "{table}");
        }
    }

    fn words(names: [&str; 2]) -> Column {
        let names = names.map(str::to_owned).to_vec();
        column("class", Data::Category { codes: vec![0, 1], names })
    }

    /// The digests of two tables, computed by Python's `hashlib.blake2b(digest_size=20)` from
    /// arrays of numpy: what this digest has been from its beginning.
    #[test]
    fn the_digest_is_that_of_python() {
        let columns = vec![
            column("flow", Data::U64(vec![0, 1])),
            words(["web", "it's"]),
            column("start_s", Data::F64(vec![0.25, f64::NAN])),
            column("sent_packets", Data::U64(vec![7, 1 << 20])),
            column("timeouts", Data::U32(vec![3, 4])),
        ];
        assert_eq!(of("flows", columns), "68eb244e0635244f11beb6070c80e146cdb68257");
        let wide = vec![column("sent_packets", Data::U64(vec![7, 1 << 40]))];
        assert_eq!(of("flows", wide), "8711a74bc672af62e8ea6363a79e854701189cee");
    }

    /// Names, types, values and words: a difference in any of them is one of the digest.
    #[test]
    fn the_digest_sees_names_types_values_and_words() {
        let base = |a: Column, c: Column| of("flows", vec![a, c]);
        let (one, two) = (1.0f64, 2.0f64);
        let a = |name, two| column(name, Data::F64(vec![one, two]));
        let digests = [
            base(a("a", two), words(["x", "y"])),
            base(a("b", two), words(["x", "y"])),
            base(a("a", two.next_up()), words(["x", "y"])),
            base(column("a", Data::U64(vec![1, 2])), words(["x", "y"])),
            base(a("a", two), words(["x", "z"])),
        ];
        for (place, digest) in digests.iter().enumerate() {
            assert!(!digests[..place].contains(digest), "{place}");
        }
    }

    /// The same counts in 32 and in 64 bits are the same result where a column once had 32 bits;
    /// elsewhere, and beyond 2^32, they are not.
    #[test]
    fn counts_that_had_32_bits_are_digested_so_where_they_fit() {
        let both = |name, count: u64| {
            let wide = of("flows", vec![column(name, Data::U64(vec![0, count]))]);
            (wide, of("flows", vec![column(name, Data::U32(vec![0, count as u32]))]))
        };
        let (wide, narrow) = both("sent_packets", (1 << 32) - 1);
        assert_eq!(wide, narrow);
        let (wide, narrow) = both("sent_packets", (1 << 32) + 5);
        assert_ne!(wide, narrow);
        let (wide, narrow) = both("flow", 5);
        assert_ne!(wide, narrow);
    }
}
