//! Which tests there are where Surefire, Gradle or JUnit's launcher ran them, which do not tell.

use std::ffi::OsString;

use bstr::ByteSlice;

use super::project::Project;
use super::recording::CommandRun;
use crate::languages::{Facts, Place, Value};
use crate::matrix::{Fingerprint, Unit, UnitKind};
use crate::observe::Collected;
use crate::runners::{jvm, maven};

/// None of them lists what it leaves out. The tests that a JVM did not come
/// to are those that were excluded; where the command failed, there may be more.
pub(super) fn know_classes(
    project: &Project,
    ran: &CommandRun<'_>,
    facts: &Facts<'_>,
    collected: &mut Collected,
) {
    if let Some(inside) = runs_inside(project, ran) {
        collected.items = None;
        collected.doubt = Some(format!(
            "`{}` {} in {} runs tests in Maven's own JVM, where nothing is collected",
            inside.setting,
            inside.value,
            inside.place()
        ));
        return;
    }
    if !collected.is_jvm {
        return;
    }
    let Some(items) = collected.items.as_mut().filter(|_| ran.finished()) else {
        collected.items = None;
        return;
    };
    let is_there = |test: &&String| {
        let (module, class) = maven::source_of(test);
        let usual = jvm::outputs_of(&project.dir.join(module));
        usual.iter().chain(&collected.class_path).any(|output| {
            let (Place::Inside(path) | Place::Outside(path)) =
                facts.place(maven::bytes_of(output).as_bstr());
            let unit = Unit::new(UnitKind::Class, path, class.clone());
            facts.value(&unit) != Value::Known(Fingerprint::MISSING)
        })
    };
    items.extend(ran.exclusions.tests.iter().filter(is_there).cloned());
    items.sort();
    items.dedup();
}

fn runs_inside(project: &Project, ran: &CommandRun<'_>) -> Option<maven::Inside> {
    let command: Vec<OsString> = ran.words.iter().map(OsString::from).collect();
    let is_maven = jvm::Tool::of(&command) == Some(jvm::Tool::Maven);
    is_maven.then(|| maven::inside_by(&project.dir, &ran.words))?
}

/// Whether the build tool came to its end and had no test to run but those that it was
/// told to leave out. Then it starts no JVM that could tell.
pub(super) fn left_out_all(project: &Project, ran: &CommandRun<'_>, collected: &Collected) -> bool {
    let command = ran.words.iter().map(OsString::from);
    ran.finished()
        && collected.bases.is_empty()
        && !collected.is_jvm
        && runs_inside(project, ran).is_none()
        && !ran.exclusions.tests.is_empty()
        && ran.exclusions.shard.is_none()
        && jvm::Tool::of(&command.collect::<Vec<_>>()).is_some()
}
