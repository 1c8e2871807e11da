//! One run at a time, from the text of a scenario to tables.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};
use tidegate_core::units::Time;
use tidegate_model as model;
use tidegate_model::columns::Column;
use tidegate_sim as sim;

use crate::request::{Document, Form, Problem, Refused, Request};
use crate::{MEMORY_BYTES, files, table};

/// What a page works with: the files that it handed in, a run, and the tables of the last one.
#[derive(Default)]
pub struct Laboratory {
    files: BTreeMap<String, Vec<u8>>,
    running: Option<Running>,
    tables: Vec<(&'static str, Vec<Column>)>,
}

struct Running {
    simulation: sim::Simulation,
    viewer: sim::Viewer,
    scenario: model::Scenario,
}

type Answer = Result<String, Refused>;

impl Laboratory {
    /// Keeps a file that documents may refer to; a packet capture as a table of its flows.
    pub fn file(&mut self, name: String, bytes: Vec<u8>) -> String {
        let content = files::content(&name, bytes).map_err(Refused::because);
        written(content.map(|(content, notes)| {
            self.files.insert(name, content);
            if notes.is_empty() {
                return "{}".to_owned();
            }
            json!({ "notes": notes }).to_string()
        }))
    }

    /// Answers a request: both are JSON, but for a table in another form. What cannot be answered
    /// has the key `error`.
    pub fn ask(&mut self, request: &[u8]) -> String {
        let request = serde_json::from_slice(request).map_err(Refused::because);
        written(request.and_then(|request| self.answer(request)))
    }

    fn answer(&mut self, request: Request) -> Answer {
        match request {
            Request::Schema => Ok(model::schema()),
            Request::Columns => Ok(headings().to_string()),
            Request::Check { document } => self.check(&document),
            Request::Start { document, seed } => self.start(&document, &seed),
            Request::Advance { until_s, events } => self.advance(until_s, events),
            Request::Glance { windows } => self.glance(windows),
            Request::Finish => self.finish(),
            Request::Table { name, form } => self.table(&name, form),
        }
    }

    fn load(&self, document: &Document) -> Result<model::Scenario, Refused> {
        let settings = settings_of(document);
        let named = model::files(source(document), &settings);
        let named = named.map_err(|report| refused(document, &report))?;
        let missing: Vec<String> =
            named.into_iter().filter(|name| !self.files.contains_key(name)).collect();
        if !missing.is_empty() {
            let error = format!("the scenario refers to {}", missing.join(", "));
            return Err(Refused { error, missing, ..Refused::default() });
        }
        let loaded = model::load(source(document), &settings, &self.files);
        loaded.map_err(|report| refused(document, &report))
    }

    fn check(&self, document: &Document) -> Answer {
        let scenario = self.load(document)?;
        let settings = settings_of(document);
        let told = |report| refused(document, &report);
        let effective = model::show(source(document), &settings, &self.files).map_err(told)?;
        let effective: toml::Table = toml::from_str(&effective).map_err(Refused::because)?;
        let variants = model::variants(source(document), &settings).map_err(told)?;
        let written: toml::Table = toml::from_str(&document.text).unwrap_or_default();
        let ports = scenario.network.ports.iter();
        let expected = model::lint::expected(&scenario).into_iter();
        let needed = model::memory::bytes(&scenario);
        let round_trips = model::lint::round_trips(&scenario);
        Ok(json!({
            "name": scenario.name,
            "duration_s": scenario.duration.secs(),
            "warmup_s": scenario.warmup.secs(),
            "classes": scenario.traffic.iter().map(|class| &class.name).collect::<Vec<_>>(),
            "ports": ports.map(|port| json!({
                "name": port.name,
                "access": port.access,
                "rate_bps": port.rate.bps(),
            })).collect::<Vec<_>>(),
            "warnings": model::lint::warnings(&scenario),
            "flows": expected.map(|each| (each.class, each.flows)).collect::<Vec<_>>(),
            "offered": model::offered::offered(&scenario).into_iter()
                .map(|each| json!({ "port": each.port, "share": each.share }))
                .collect::<Vec<_>>(),
            "round_trips_s": round_trips.map(|(low, high)| (low.secs(), high.secs())),
            "memory_bytes": needed,
            "fits": needed <= MEMORY_BYTES as f64,
            "variants": variants.iter().map(|(name, changes)| json!({
                "name": name,
                "changes": changes.iter().map(|(key, value)| change(key, value)).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
            "written": written,
            "effective": effective,
        })
        .to_string())
    }

    fn start(&mut self, document: &Document, seed: &str) -> Answer {
        // the memory of the last run first
        self.running = None;
        self.tables = Vec::new();
        let seed: u64 = seed.parse().map_err(|_| {
            Refused::because(format!("the seed {seed} is no whole number from 0 to 2^64 - 1"))
        })?;
        let scenario = self.load(document)?;
        let simulation = sim::Simulation::new(&scenario, seed, sim::Custom::default());
        let simulation = simulation.map_err(|error| Refused::because(why(&error)))?;
        self.running = Some(Running { simulation, viewer: sim::Viewer::default(), scenario });
        Ok("{}".to_owned())
    }

    fn advance(&mut self, until_s: Option<f64>, events: u64) -> Answer {
        let Running { simulation, scenario, .. } = self.running.as_mut().ok_or_else(no_run)?;
        let until = until_s.map_or(scenario.duration, Time::from_secs_f64);
        // the clock does not go back, whatever is asked
        let until = until.max(simulation.now());
        let progress = simulation.advance(until, events).map_err(Refused::because)?;
        Ok(json!({
            "done": progress == sim::Progress::Done,
            "now_s": simulation.now().secs(),
            "packet_hops": simulation.packet_hops(),
        })
        .to_string())
    }

    fn glance(&mut self, windows: usize) -> Answer {
        let Running { simulation, viewer, .. } = self.running.as_mut().ok_or_else(no_run)?;
        let seen = simulation.glance(viewer, windows);
        let classes = seen.classes.iter().map(|class| {
            json!({
                "started": class.started,
                "open": class.open,
                "completed": class.completed,
                "gave_up": class.gave_up,
            })
        });
        let ports = seen.ports.iter().map(|port| {
            json!({
                "port": port.port,
                "queue_packets": port.queue_packets,
                "queue_bytes": port.queue_bytes,
                "departed_bytes": port.departed_bytes,
                "lost": port.lost,
                "marked": port.marked,
            })
        });
        let windows = seen.windows.iter().map(|window| {
            json!({
                "flow": window.flow,
                "class": window.class,
                "cwnd_packets": window.cwnd_packets,
                "srtt_s": window.srtt.map(Time::secs),
            })
        });
        Ok(json!({
            "now_s": seen.now.secs(),
            "classes": classes.collect::<Vec<_>>(),
            "ports": ports.collect::<Vec<_>>(),
            "windows": windows.collect::<Vec<_>>(),
        })
        .to_string())
    }

    fn finish(&mut self) -> Answer {
        let Running { simulation, .. } = self.running.take().ok_or_else(no_run)?;
        let now_s = simulation.now().secs();
        let results = simulation.finish();
        let answer = json!({
            "now_s": now_s,
            "result_hash": results.digest(),
            "packet_hops": results.packet_hops,
            "delivered_packets": results.delivered_packets,
        });
        self.tables = results.into_tables();
        let sizes = self
            .tables
            .iter()
            .map(|(name, columns)| (*name, columns.first().map_or(0, |column| column.data.rows())));
        let sizes: serde_json::Map<String, Value> =
            sizes.map(|(name, rows)| (name.to_owned(), rows.into())).collect();
        let Value::Object(mut answer) = answer else { return Err(no_run()) };
        answer.insert("tables".to_owned(), sizes.into());
        Ok(Value::from(answer).to_string())
    }

    fn table(&self, name: &str, form: Form) -> Answer {
        let found = self.tables.iter().find(|(each, _)| *each == name);
        let (_, columns) =
            found.ok_or_else(|| Refused::because(format!("there is no table {name}")))?;
        Ok(match form {
            Form::Json => table::json(columns),
            Form::Csv => table::csv(columns),
        })
    }
}

fn written(answer: Answer) -> String {
    answer.unwrap_or_else(|refused| serialised(&refused))
}

fn serialised(value: &impl Serialize) -> String {
    serde_json::to_string(value)
        .unwrap_or_else(|error| json!({ "error": error.to_string() }).to_string())
}

fn no_run() -> Refused {
    Refused::because("no run has been started")
}

/// Why a run could not be built; laws and stacks that a page does not have are named as such.
fn why(error: &sim::BuildError) -> String {
    match error {
        sim::BuildError::NoSuchLaw(name) => format!(
            "the scenario names `{name}`, a law of your own, which a page does not have: run it on \
             a machine, with --law FILE.py:{name}"
        ),
        sim::BuildError::NoSuchStack(name) => format!(
            "the scenario asks for QUIC by `{name}`, which a page does not have: run it on a \
             machine, with a simulator of `make stacks`"
        ),
        sim::BuildError::NoSuchControl(name) => format!(
            "the scenario asks for the control `{name}` of another project, which a page does not \
             have: run it on a machine, with a simulator of `make stacks`"
        ),
        other => other.to_string(),
    }
}

/// A change of a variant: its key and value as texts, and as a path and a value.
fn change(key: &str, value: &str) -> Value {
    let read = |text: String| toml::from_str::<toml::Table>(&text).unwrap_or_default();
    let mut path = Vec::new();
    let mut table = read(format!("{key} = 0"));
    while let Some((name, below)) = table.into_iter().next() {
        path.push(name);
        table = if let toml::Value::Table(below) = below { below } else { toml::Table::new() };
    }
    let found = read(format!("value = {value}")).remove("value");
    json!({ "key": key, "text": value, "path": path, "value": found })
}

fn source(document: &Document) -> model::Source<'_> {
    model::Source { name: &document.name, text: &document.text }
}

fn settings_of(document: &Document) -> Vec<model::Setting<'_>> {
    let settings = document.settings.iter();
    settings.map(|(key, value)| model::Setting { key, value }).collect()
}

fn refused(document: &Document, report: &model::Report) -> Refused {
    let problems = report.problems().map(|problem| Problem {
        what: problem.what.to_owned(),
        help: problem.help.to_owned(),
        of: problem.place.map(|(name, _)| name.to_owned()),
        line: problem.place.map(|(_, line)| line),
    });
    let problems: Vec<Problem> = problems.collect();
    let many = if problems.len() == 1 { "" } else { "s" };
    Refused {
        error: format!("{} problem{many} in {}", problems.len(), document.name),
        problems,
        report: report.render(false),
        missing: Vec::new(),
    }
}

/// The columns of each table: name, unit, kind and meaning.
fn headings() -> Value {
    let tables = model::columns::TABLES.iter().map(|(name, columns)| {
        let columns = columns.iter();
        let columns =
            columns.map(|each| json!([each.name, each.unit, each.kind.name(), each.meaning]));
        ((*name).to_owned(), columns.collect::<Vec<_>>().into())
    });
    Value::Object(tables.collect())
}
