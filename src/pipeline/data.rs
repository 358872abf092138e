//! From the traces of a run to who reads and writes which state.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use bstr::ByteSlice;

use super::audit::{Audit, Suspect};
use super::decide::Decision;
use super::launch::Ran;
use super::project::Project;
use crate::languages::{Environment, Facts};
use crate::observe::{self, Observations, Reader, read_traces};
use crate::order::{Access, Accesses, Data, Does, Suite};
use crate::runners::{Started, configured};
use crate::select::Verdict;

/// Says of each test that ended otherwise than in its proof which state could explain it: what
/// it reads and another test wrote before it in this run. First what was written by tests that
/// are not as they were.
///
/// # Errors
/// If git or the traces cannot be read.
pub(super) fn explain(
    project: &Project,
    ran: &Ran,
    collected: &Observations,
    (audit, audited): (&mut Audit, &Decision),
) -> Result<()> {
    let mut rows: Vec<_> = collected.rows.iter().collect();
    rows.sort_by_key(|row| row.position);
    let ids = rows.iter().map(|row| (row.test.clone(), Vec::new()));
    // A test that ran twice has no one place.
    let Ok(suite) = Suite::new(ids) else {
        return Ok(());
    };
    let data = Data::new(&suite, accesses(project, &ran.traces, &ran.words())?);
    let is_as_before = |test: &str| {
        let verdict = audited.selection.verdicts.get(test);
        matches!(verdict, Some(Verdict::Skip(_)))
    };
    for missed in &mut audit.misses {
        let Some(test) = suite.find(&missed.test) else {
            continue;
        };
        let written = data.before(test).into_iter();
        let suspects = written.map(|(cell, writer)| Suspect {
            cell: cell.to_owned(),
            writer: suite.id(writer).to_owned(),
        });
        missed.suspects = suspects.collect();
        missed.suspects.sort_by_key(|one| is_as_before(&one.writer));
    }
    Ok(())
}

/// Who reads and writes which state, by the traces that `command` left in a folder.
///
/// # Errors
/// If git or the traces cannot be read.
pub(super) fn accesses(project: &Project, traces: &Path, command: &[String]) -> Result<Accesses> {
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
    let started = Started {
        facts: &facts,
        project: project.prefix.as_bstr(),
        command,
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
