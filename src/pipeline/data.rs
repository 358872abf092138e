//! From the traces of a run to who reads and writes which state.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use anyhow::Result;
use bstr::ByteSlice;

use super::project::Project;
use crate::languages::{Environment, Facts};
use crate::observe::{self, Reader, read_traces};
use crate::order::{Access, Accesses, Does};
use crate::runners::{Started, configured};

/// Who reads and writes which state, by the traces that `command` left in a folder.
///
/// # Errors
/// If git or the traces cannot be read.
pub(super) fn accesses(project: &Project, traces: &Path, command: &[OsString]) -> Result<Accesses> {
    let (traces, errors) = read_traces(traces)?;
    let view = project.repository.work_view()?;
    let root = project.repository.root();
    let facts = Facts::new(
        &view,
        root,
        Environment::Elsewhere,
        project.cache(),
        configured,
    );
    let words: Vec<String> = command
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let started = Started {
        facts: &facts,
        project: project.prefix.as_bstr(),
        command: &words,
        folder: std::env::current_dir().ok(),
        variable: &|name| std::env::var_os(name),
    };
    let benign = &project.config.benign_state.value;
    let seen = observe::accesses(&traces, &errors, &facts, &started, benign)?;
    let mut found = Accesses {
        known: BTreeSet::new(),
        by_anyone: BTreeSet::new(),
    };
    for observe::Access { cell, by, does } in seen {
        let does = match does {
            observe::Does::Reads => Does::Reads,
            observe::Does::Writes => Does::Writes,
        };
        match by {
            Reader::Test(test) => _ = found.known.insert(Access { test, cell, does }),
            Reader::Anyone => _ = found.by_anyone.insert(cell),
        }
    }
    Ok(found)
}
