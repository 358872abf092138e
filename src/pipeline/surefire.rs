//! Which tests there are where Surefire, Gradle or JUnit's launcher ran them, which do not tell.

use bstr::ByteSlice;

use super::project::Project;
use super::recording::CommandRun;
use crate::languages::{Facts, Place, Value};
use crate::matrix::{Fingerprint, Unit, What};
use crate::observe::Observations;
use crate::runners::{jvm, maven};

/// None of them lists what it leaves out. The tests that a JVM did not come
/// to are those that were excluded; where the command failed, there may be more.
pub(super) fn know_classes(
    project: &Project,
    ran: &CommandRun<'_>,
    facts: &Facts<'_>,
    collected: &mut Observations,
) {
    if let Some(why) = project.config.driver.hides_tests(&project.dir, &ran.words) {
        collected.items = None;
        collected.doubt = Some(why);
        return;
    }
    let Some(compiled) = &collected.compiled else {
        return;
    };
    let Some(items) = collected.items.as_mut().filter(|_| ran.finished()) else {
        collected.items = None;
        return;
    };
    let is_there = |test: &&String| {
        let (module, class) = maven::source_of(test);
        let usual = jvm::outputs_of(&project.dir.join(module));
        usual.iter().chain(&compiled.class_path).any(|output| {
            let (Place::Inside(path) | Place::Outside(path)) =
                facts.place(maven::bytes_of(output).as_bstr());
            let unit = Unit::at(path, What::Class(class.clone().into()));
            facts.value(&unit) != Value::Known(Fingerprint::MISSING)
        })
    };
    items.extend(ran.exclusions.tests.iter().filter(is_there).cloned());
    items.sort();
    items.dedup();
}

/// Whether the build tool came to its end and had no test to run but those that it was
/// told to leave out. Then it starts no JVM that could tell.
pub(super) fn left_out_all(
    project: &Project,
    ran: &CommandRun<'_>,
    collected: &Observations,
) -> bool {
    let driver = project.config.driver;
    ran.finished()
        && collected.bases.is_empty()
        && collected.compiled.is_none()
        && driver.hides_tests(&project.dir, &ran.words).is_none()
        && !ran.exclusions.tests.is_empty()
        && ran.exclusions.shard.is_none()
        && driver.starts_nothing_for_nothing()
}
