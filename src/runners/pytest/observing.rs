//! pytest statement by statement (`agents/python/boot/_tamis/minimise`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::orders::{Server, Words};
use crate::error::Error;
use crate::languages::python_tests_in;
use crate::minimise::{Role, SourceText, TestText};
use crate::order::{Process, Step};
use crate::runners::{AtHand, Coverage, Observation, Observed, Observer, Ordered, Ran, Watch};

/// What a watched test may take.
const PATIENCE: Duration = Duration::from_secs(600);

/// pytest, started anew for each observation.
pub(super) struct Watched {
    words: Words,
    /// The top of the project at hand, and that of the one that it is a copy of: an
    /// installation may lead there.
    roots: [PathBuf; 2],
}

/// A line of what was watched.
#[derive(Deserialize)]
struct Told {
    test: usize,
    #[serde(flatten)]
    seen: Observed,
}

impl Watched {
    pub(super) fn new(ordered: &Ordered<'_>, original: &Path) -> Watched {
        Watched {
            words: Words::of(ordered),
            roots: [ordered.root.to_owned(), original.to_owned()],
        }
    }

    fn start(&self, measures: bool) -> Result<Server, Error> {
        let mut words = self.words.clone();
        words.measured = measures.then(|| self.roots.to_vec());
        let server = words.start(&words.command, None)?;
        match server.tests.is_empty() {
            true => Err(Error::usage("the command runs no tests")),
            false => Ok(server),
        }
    }

    fn run(&self, mut server: Server, asked: Value) -> Result<Option<Ran>, Error> {
        let step = Step {
            order: server.tests.clone(),
            process: Process::Fresh,
        };
        server.run_with(&step, &|_| PATIENCE, asked)
    }
}

impl Observer for Watched {
    fn tests(&self) -> Result<Vec<AtHand>, Error> {
        let mut server = self.start(false)?;
        let scratch = tempfile::tempdir().context("cannot make a temporary folder")?;
        let file = scratch.path().join("tests");
        server.ask_about(&json!({ "describe": file }))?;
        let mut found: Vec<AtHand> = read(&file)?;
        for (test, id) in found.iter_mut().zip(&server.tests) {
            test.id.clone_from(id);
        }
        Ok(found)
    }

    fn source(&self, bytes: &[u8]) -> Result<SourceText, String> {
        python_tests_in(bytes)
    }

    fn observe(&self, watch: &Watch<'_>) -> Result<Option<Observation>, Error> {
        let server = self.start(false)?;
        let scratch = tempfile::tempdir().context("cannot make a temporary folder")?;
        let file = scratch.path().join("seen");
        let ids = server.tests.clone();
        let mut plans = serde_json::Map::new();
        for (number, id) in ids.iter().enumerate() {
            if let Some(text) = watch.tests.get(id) {
                plans.insert(number.to_string(), plan(text));
            }
        }
        let asked = json!({ "observe": {
            "into": file, "deep": watch.deep, "tests": plans,
            "roots": self.roots,
        }});
        let Some(ran) = self.run(server, asked)? else {
            return Ok(None);
        };
        let mut tests = BTreeMap::new();
        let text = crate::disk::read_to_string(&file).unwrap_or_default();
        for line in text.lines() {
            let told: Told = serde_json::from_str(line).map_err(anyhow::Error::from)?;
            if let Some(id) = ids.get(told.test) {
                tests.insert(id.clone(), told.seen);
            }
        }
        Ok(Some(Observation { ran, tests }))
    }

    fn cover(&self) -> Result<Option<Coverage>, Error> {
        let server = self.start(true)?;
        let scratch = tempfile::tempdir().context("cannot make a temporary folder")?;
        let file = scratch.path().join("covered");
        let asked = json!({ "covered": file });
        let Some(_) = self.run(server, asked)? else {
            return Ok(None);
        };
        Ok(Some(read(&file)?))
    }
}

fn plan(text: &TestText) -> Value {
    let statements = text.statements.iter().map(|one| {
        json!({
            "first": one.first_line, "last": one.last_line,
            "used": one.part.used, "free": one.part.free,
            "silent": one.part.role == Role::Silent,
        })
    });
    json!({
        "instance": text.instance, "members": text.members,
        "statements": statements.collect::<Vec<_>>(),
    })
}

fn read<T: DeserializeOwned>(file: &Path) -> Result<T, Error> {
    let text = crate::disk::read_to_string(file).context("the test process told nothing")?;
    Ok(serde_json::from_str(&text).map_err(anyhow::Error::from)?)
}
