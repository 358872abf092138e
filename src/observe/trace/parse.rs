//! The lines of a trace, one JSON record each.

use std::path::Path;

use anyhow::{Context, Result, bail};
use bstr::BString;
use rustc_hash::FxHashMap;
use serde_json::Value;

use super::{
    Definition, Found, FoundIn, Open, RunnerConfig, Scope, ScopeKind, Spawned, StateChange,
    TRACE_VERSION, Taking, TestBegin, TestEnd, Trace,
};
use crate::matrix::{Fingerprint, Outcome, UnitKind};
use crate::observe::additions;

/// Parses one trace; `None` if it holds no whole record.
pub(super) fn trace(path: &Path, bytes: &[u8]) -> Result<Option<Trace>> {
    let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else {
        return Ok(None);
    };
    let mut lines = bytes[..end].split(|byte| *byte == b'\n').enumerate();
    let Some((_, first)) = lines.next() else {
        return Ok(None);
    };
    let (tag, open): (String, Value) =
        serde_json::from_slice(first).context("line 1 is not an `open` record")?;
    if tag != "open" {
        bail!("line 1 is a `{tag}` record instead of `open`");
    }
    match open.get("version").and_then(Value::as_u64) {
        Some(TRACE_VERSION) => {}
        other => bail!(
            "trace version {}, this tamis reads version {TRACE_VERSION}",
            other.map_or("missing".to_owned(), |v| v.to_string())
        ),
    }
    let open: Open = serde_json::from_value(open).context("line 1: the `open` record")?;
    let mut trace = Trace {
        path: path.to_owned(),
        open,
        definitions: FxHashMap::default(),
        scopes: FxHashMap::default(),
        begins: Vec::new(),
        ends: Vec::new(),
        state: Vec::new(),
        fixture_changes: Vec::new(),
        spawned: Vec::new(),
        writes: Vec::new(),
        meets: Vec::new(),
        items: None,
        config: None,
        finds: None,
        overridable: FxHashMap::default(),
        taking: Taking::default(),
        closed: None,
        ended: None,
        clocks: Vec::new(),
    };
    for (at, line) in lines {
        if !line.is_empty() {
            read_record(&mut trace, line).with_context(|| format!("line {}", at + 1))?;
        }
    }
    Ok(Some(trace))
}

fn read_record(trace: &mut Trace, line: &[u8]) -> Result<()> {
    if line.starts_with(b"[\"+\"") {
        let (number, units, edges) = match additions::read(line) {
            Some(read) => read,
            None => {
                let (_, scope, units, edges): (String, _, _, _) = serde_json::from_slice(line)?;
                (scope, units, edges)
            }
        };
        let scope = scope_mut(trace, number);
        scope.units.extend(units);
        scope.edges.extend(edges);
        return Ok(());
    }
    let record: Vec<Value> = serde_json::from_slice(line)?;
    let field = |at: usize| record.get(at).context("the record is too short");
    let tag = field(0)?.as_str().context("the tag is not a string")?;
    match tag {
        "c" => {
            let definition = Definition::Code {
                file: absolute(&trace.open, path_of(field(2)?)?),
                first_line: u32::try_from(number(field(3)?)?)?,
                name: text(field(4)?)?,
            };
            trace.definitions.insert(number(field(1)?)?, definition);
        }
        "u" => {
            let definition = observation(&text(field(2)?)?, field(3)?, field(4)?)?;
            trace.definitions.insert(number(field(1)?)?, definition);
        }
        "s" => {
            let (kind, name) = (scope_kind(&text(field(2)?)?)?, path_of(field(3)?)?);
            let extra = optional_text(record.get(4))?;
            let scope = scope_mut(trace, number(field(1)?)?);
            (scope.kind, scope.name, scope.extra) = (kind, name, extra);
            scope.defined = true;
        }
        "b" => trace.begins.push(TestBegin {
            scope: number(field(1)?)?,
            test: text(field(2)?)?,
            file: path_of(field(3)?)?,
        }),
        "t" => trace.ends.push(TestEnd {
            scope: number(field(1)?)?,
            test: text(field(2)?)?,
            outcome: outcome(&text(field(3)?)?)?,
            seconds: field(4)?.as_f64().unwrap_or(0.0),
            incomplete: optional_text(record.get(5))?,
        }),
        "i" => {
            let why = text(field(2)?)?;
            scope_mut(trace, number(field(1)?)?)
                .incomplete
                .get_or_insert(why);
        }
        "w" => trace.writes.push((number(field(1)?)?, path_of(field(2)?)?)),
        "r" => trace.meets.push((number(field(1)?)?, path_of(field(2)?)?)),
        "x" => trace.state.push(StateChange {
            file: path_of(field(1)?)?,
            name: text(field(2)?)?,
            by: number(field(3)?)?,
        }),
        "y" => trace
            .fixture_changes
            .push((number(field(1)?)?, number(field(2)?)?)),
        "p" => trace.spawned.push(Spawned {
            scope: number(field(1)?)?,
            token: text(field(2)?)?,
            pid: field(3)?.as_u64().and_then(|pid| u32::try_from(pid).ok()),
            program: text(field(4)?)?,
            excuse: optional_text(record.get(5))?,
        }),
        "items" => trace.items = Some((texts(field(1)?)?, texts(field(2)?)?)),
        "o" => {
            trace
                .overridable
                .insert(text(field(1)?)?, texts(field(2)?)?);
        }
        "config" => trace.config = Some(runner_config(field(1)?)?),
        "finds" => trace.finds = Some(found_in(field(1)?)?),
        "ended" => trace.ended = field(1)?.as_f64(),
        "clock" => {
            let at = field(2)?.as_f64().context("a time is not a number")?;
            trace.clocks.push((number(field(1)?)?, at));
        }
        "close" => trace.closed = Some(field(1)?.as_i64().unwrap_or(-1)),
        other => {
            if !trace.taking.read(other, &record)? {
                bail!("unknown record `{other}`: written by a newer agent");
            }
            if other == "imported" {
                trace.taking.last_scope = trace.scopes.keys().copied().max().unwrap_or(0);
            }
        }
    }
    Ok(())
}

/// A file name as it stands in a code object may be relative.
fn absolute(open: &Open, file: BString) -> BString {
    let Some(cwd) = open.cwd.as_str().filter(|_| file.first() != Some(&b'/')) else {
        return file;
    };
    let mut path = BString::from(cwd.trim_end_matches('/'));
    path.push(b'/');
    path.extend_from_slice(file.strip_prefix(b"./").unwrap_or(&file));
    path
}

fn scope_mut(trace: &mut Trace, number: u64) -> &mut Scope {
    trace.scopes.entry(number).or_insert_with(|| Scope {
        kind: if number == 0 {
            ScopeKind::Session
        } else {
            ScopeKind::Child
        },
        name: BString::default(),
        extra: None,
        units: Vec::new(),
        edges: Vec::new(),
        incomplete: None,
        defined: false,
    })
}

fn observation(kind: &str, path: &Value, value: &Value) -> Result<Definition> {
    Ok(match kind {
        "file" => Definition::File {
            path: path_of(path)?,
            fingerprint: fingerprint(value)?,
        },
        "exists" => Definition::Exists {
            path: path_of(path)?,
            found: match value.as_str() {
                Some("missing") => Found::Missing,
                Some("file") => Found::File,
                Some("dir") => Found::Dir,
                _ => bail!("`exists` with the value {value}"),
            },
        },
        "lookup" => Definition::Lookup {
            path: path_of(path)?,
        },
        "dir" => Definition::Dir {
            path: path_of(path)?,
            fingerprint: fingerprint(value)?,
        },
        "module" => Definition::Module {
            path: path_of(path)?,
        },
        "names" => Definition::Names,
        "annotations" => Definition::Annotations {
            is_blind: text(path)?.is_empty(),
        },
        "reached" => Definition::Reached {
            path: path_of(path)?,
            name: text(value)?,
        },
        "line" => Definition::Line {
            path: path_of(path)?,
            number: text(value)?,
        },
        "docstring" => docstring(path, value)?,
        "env" => Definition::Env {
            name: text(path)?,
            fingerprint: fingerprint(value)?,
        },
        "dist" => Definition::Dist {
            name: text(path)?,
            fingerprint: fingerprint(value)?,
        },
        "runtime" => Definition::Runtime {
            name: text(path)?,
            fingerprint: fingerprint(value)?,
        },
        "class" | "shape" | "method" => Definition::Compiled {
            kind: match kind {
                "class" => UnitKind::Class,
                "shape" => UnitKind::Shape,
                _ => UnitKind::Method,
            },
            origin: path_of(path)?,
            name: text(value)?,
        },
        other => bail!("unknown kind of observation `{other}`: written by a newer agent"),
    })
}

/// The value is the first line and the name of the code, or `*`.
fn docstring(path: &Value, value: &Value) -> Result<Definition> {
    let of = text(value)?;
    let place = of.split_once(' ').and_then(|(line, name)| {
        let first_line = line.parse().ok()?;
        Some((first_line, name.to_owned()))
    });
    let Some((first_line, name)) = place.or_else(|| (of == "*").then(Default::default)) else {
        bail!("`docstring` with the value {value}");
    };
    Ok(Definition::Docstring {
        path: path_of(path)?,
        first_line,
        name,
    })
}

fn runner_config(value: &Value) -> Result<RunnerConfig> {
    let list = |key: &str| match value.get(key) {
        Some(Value::Array(_)) => texts(&value[key]),
        _ => Ok(Vec::new()),
    };
    Ok(RunnerConfig {
        rootdir: match value.get("rootdir") {
            None | Some(Value::Null) => None,
            Some(path) => Some(path_of(path)?),
        },
        args: list("args")?,
        plugins: list("plugins")?,
    })
}

fn found_in(value: &Value) -> Result<FoundIn> {
    let list = |key: &str| texts(value.get(key).unwrap_or(&Value::Null));
    let places = match value.get("in") {
        Some(Value::Array(places)) => Some(places.iter().map(path_of).collect::<Result<_>>()?),
        _ => None,
    };
    Ok(FoundIn {
        args: list("args")?,
        names: list("names")?,
        places,
        others: list("others")?,
    })
}

fn scope_kind(word: &str) -> Result<ScopeKind> {
    Ok(match word {
        "session" => ScopeKind::Session,
        "import" => ScopeKind::Import,
        "collect" => ScopeKind::Collect,
        "fixture" => ScopeKind::Fixture,
        "cache" => ScopeKind::Cache,
        "property" => ScopeKind::Property,
        "test" => ScopeKind::Test,
        "child" => ScopeKind::Child,
        other => bail!("unknown kind of scope `{other}`: written by a newer agent"),
    })
}

fn outcome(word: &str) -> Result<Outcome> {
    Outcome::ALL
        .into_iter()
        .find(|outcome| outcome.word() == word)
        .with_context(|| format!("unknown outcome `{word}`"))
}

pub(super) fn number(value: &Value) -> Result<u64> {
    value
        .as_u64()
        .with_context(|| format!("{value} is not a number"))
}

/// A string, or `{"hex": "…"}` for one that is not UTF-8 (shown with escapes).
pub(super) fn text(value: &Value) -> Result<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        _ => Ok(path_of(value)?.to_string()),
    }
}

pub(super) fn texts(value: &Value) -> Result<Vec<String>> {
    value
        .as_array()
        .context("not a list")?
        .iter()
        .map(text)
        .collect()
}

pub(super) fn optional_text(value: Option<&Value>) -> Result<Option<String>> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(value) => text(value).map(Some),
    }
}

pub(super) fn path_of(value: &Value) -> Result<BString> {
    if let Some(text) = value.as_str() {
        return Ok(text.into());
    }
    let hex = value
        .get("hex")
        .and_then(Value::as_str)
        .with_context(|| format!("{value} is not a path"))?;
    let digits: Option<Vec<u8>> = (0..hex.len() / 2)
        .map(|at| u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok())
        .collect();
    digits
        .map(BString::from)
        .context("a path with bad hex digits")
}

pub(super) fn fingerprint(value: &Value) -> Result<Option<Fingerprint>> {
    match value.as_str() {
        None => Ok(None),
        Some(hex) => Fingerprint::from_hex(hex)
            .map(Some)
            .context("a fingerprint is 32 hex digits"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::CellValue;
    use crate::observe::graph::Graph;
    use crate::observe::trace::taking::TakenHolder;

    fn parse_text(text: &str) -> Result<Option<Trace>> {
        trace(Path::new("x.trace"), text.as_bytes())
    }

    const OPEN: &str = r#"["open",{"version":1,"trace":"1-a","pid":1,"role":"main"}]"#;

    #[test]
    fn reads_scopes_units_and_tests() {
        let text = format!(
            "{OPEN}\n[\"s\",0,\"session\",\"\",null]\n[\"c\",1,\"/p/a.py\",3,\"f\"]\n[\"u\",2,\"exists\",{{\"hex\":\"2fff\"}},\"missing\"]\n\
             [\"s\",7,\"test\",\"a.py::t\",null]\n[\"b\",7,\"a.py::t\",\"/p/a.py\"]\n[\"+\",7,[1,2],[0]]\n[\"t\",7,\"a.py::t\",\"passed\",0.25,null]\n[\"close\",0]\n"
        );
        let trace = parse_text(&text).unwrap().unwrap();
        assert_eq!(trace.scopes[&7].units, [1, 2]);
        assert_eq!(trace.ends[0].outcome, Outcome::Passed);
        assert_eq!(trace.closed, Some(0));
        assert_eq!(
            trace.definitions[&2],
            Definition::Exists {
                path: BString::from(&b"/\xff"[..]),
                found: Found::Missing
            }
        );
    }

    #[test]
    fn a_last_line_without_its_end_is_ignored() {
        let trace = parse_text(&format!("{OPEN}\n[\"t\",7,\"a.py::t\",\"pas"))
            .unwrap()
            .unwrap();
        assert!(trace.ends.is_empty() && trace.closed.is_none());
        assert!(parse_text("[\"op").unwrap().is_none());
    }

    #[test]
    fn newer_and_foreign_records_are_errors() {
        let newer = OPEN.replace("\"version\":1", "\"version\":2");
        assert!(parse_text(&format!("{newer}\n")).is_err());
        assert!(parse_text(&format!("{OPEN}\n[\"zz\",1]\n")).is_err());
        assert!(parse_text(&format!("{OPEN}\n[\"t\"]\n")).is_err());
    }

    #[test]
    fn reads_what_cells_held() {
        let print = "0a".repeat(16);
        let text = format!(
            "{OPEN}\n[\"imported\",[3,9]]\n\
             [\"cells\",\"m:C\",\"/p/m.py\",[[\"f\",\"{print}\"],[\"\",\"{print}\",null],[\"g\",null,\"volatile\"]]]\n\
             [\"confirmed\",[\"m.py::a\"]]\n[\"refuted\",[[\"m.py::b\",\"m:C#f differs\"]]]\n\
             [\"not-whole\",\"too much\"]\n[\"no-values\",\"xdist\"]\n"
        );
        let taking = parse_text(&text).unwrap().unwrap().taking;
        let value = CellValue::Is(Fingerprint([10; 16]));
        let expected = TakenHolder {
            name: "m:C".to_owned(),
            path: "/p/m.py".into(),
            cells: vec![
                ("f".to_owned(), value.clone()),
                (String::new(), value),
                ("g".to_owned(), CellValue::Opaque("volatile".to_owned())),
            ],
        };
        assert_eq!(taking.holders, [expected]);
        assert_eq!(taking.imported, Some(vec![3, 9]));
        assert_eq!(taking.confirmed, ["m.py::a"]);
        let refuted = ("m.py::b".to_owned(), "m:C#f differs".to_owned());
        assert_eq!(taking.refuted, [refuted]);
        assert_eq!(taking.gave_up.as_deref(), Some("too much"));
        assert_eq!(taking.forbidden.as_deref(), Some("xdist"));
    }

    #[test]
    fn values_in_another_shape_are_errors() {
        let print = "0a".repeat(16);
        let others = [
            "[\"imported\",[-1]]".to_owned(),
            "[\"imported\"]".to_owned(),
            "[\"cells\",\"m\",\"\",{}]".to_owned(),
            "[\"cells\",\"m\",\"\",[[\"k\"]]]".to_owned(),
            "[\"cells\",\"m\",\"\",[[\"k\",null]]]".to_owned(),
            "[\"cells\",\"m\",\"\",[[\"k\",\"0a\",null]]]".to_owned(),
            "[\"cells\",\"m\",\"\",[[\"k\",7,\"why\"]]]".to_owned(),
            format!("[\"cells\",\"m\",\"\",[[\"k\",\"{print}\",null,1]]]"),
            "[\"confirmed\",\"t\"]".to_owned(),
            "[\"refuted\",[[\"t\"]]]".to_owned(),
            "[\"no-values\"]".to_owned(),
        ];
        for line in others {
            assert!(parse_text(&format!("{OPEN}\n{line}\n")).is_err(), "{line}");
        }
    }

    /// Also what is made of a trace at once: the graph of its scopes.
    #[test]
    fn damaged_traces_are_read_or_refused() {
        let text = format!(
            "{OPEN}\n[\"s\",0,\"session\",\"\",null]\n[\"c\",1,\"/p/a.py\",3,\"f\"]\n[\"u\",2,\"exists\",{{\"hex\":\"2fff\"}},\"missing\"]\n\
             [\"u\",3,\"env\",\"HOME\",\"{0}\"]\n[\"s\",7,\"test\",\"a.py::t\",null]\n[\"b\",7,\"a.py::t\",\"/p/a.py\"]\n\
             [\"+\",7,[1,2],[0]]\n[\"t\",7,\"a.py::t\",\"passed\",0.25,null]\n[\"i\",7,\"killed\"]\n[\"x\",\"/p/a.py\",\"N\",7]\n\
             [\"y\",7,0]\n[\"p\",7,\"token\",12,\"sh\",null]\n[\"w\",7,\"/p/b\"]\n[\"items\",[\"a.py::t\"],[]]\n\
             [\"config\",{{\"rootdir\":\"/p\",\"args\":[\"-x\"],\"plugins\":[]}}]\n\
             [\"finds\",{{\"args\":[\"-x\"],\"names\":[\"t*.py\"],\"in\":[\"/p\"],\"others\":[]}}]\n\
             [\"imported\",[7]]\n[\"cells\",\"m\",\"/p/a.py\",[[\"k\",null,\"volatile\"]]]\n[\"confirmed\",[\"a.py::t\"]]\n\
             [\"refuted\",[[\"a.py::t\",\"m#k\"]]]\n[\"no-values\",\"xdist\"]\n[\"close\",0]\n",
            "0a".repeat(16)
        );
        let child = r#"["open",{"version":1,"trace":"2-b","pid":2,"role":"child","spawn":"token","scope":["1-a",7],"cwd":"/p"}]"#;
        let reader = crate::fuzz::Reader {
            name: "trace",
            seeds: vec![text.into_bytes(), format!("{child}\n").into_bytes()],
            words: &[
                "null",
                "[]",
                "{\"hex\":\"ff\"}",
                "\n[\"+\",",
                "\n[\"s\",",
                "\"cache\"",
                "\"fork_of\":\"1-a\",",
                "-1",
                "1e999",
                "\"version\":1",
                "[[[[",
                "\\ud800",
                "\n",
            ],
            mend: |_| {},
            read: &|bytes| match trace(Path::new("x.trace"), bytes) {
                Ok(Some(trace)) => {
                    let parts = (
                        trace.scopes.len(),
                        trace.definitions.len(),
                        trace.spawned.len(),
                    );
                    Graph::build(&[trace], &[]);
                    format!("read {parts:?}")
                }
                Ok(None) => "nothing".to_owned(),
                Err(error) => format!("{error:#}"),
            },
        };
        reader.feed();
    }
}
