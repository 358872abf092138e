//! Which tests there are where a JVM ran them: no build tool lists what it leaves out.

use std::path::Path;

use bstr::ByteSlice;

use super::outputs_of;
use crate::languages::{Facts, Place, Value};
use crate::matrix::{Fingerprint, Unit, What};
use crate::observe::Observations;
use crate::run::Ended;
use crate::runners::Finished;
use crate::runners::maven::{bytes_of, source_of};

/// Adds the tests that were left out and are still there. Those are all that the JVM did
/// not come to; where the command failed, there may be more.
pub(crate) fn add_left_out(ran: &Finished<'_>, observed: &mut Observations) {
    let Some(compiled) = &observed.compiled else {
        return;
    };
    let ended_well = ran.ended == Ended::Exit(0);
    let Some(items) = observed.items.as_mut().filter(|_| ended_well) else {
        observed.items = None;
        return;
    };
    let is_there = |test: &&String| {
        let (module, class) = source_of(test);
        let usual = outputs_of(&ran.project.join(module));
        let mut outputs = usual.iter().chain(&compiled.class_path);
        outputs.any(|output| is_class_in(output, &class, ran.facts))
    };
    items.extend(ran.left_out.iter().filter(is_there).cloned());
    items.sort();
    items.dedup();
}

fn is_class_in(output: &Path, class: &str, facts: &Facts<'_>) -> bool {
    let (Place::Inside(path) | Place::Outside(path)) = facts.place(bytes_of(output).as_bstr());
    let unit = Unit::at(path, What::Class(class.into()));
    facts.value(&unit) != Value::Known(Fingerprint::MISSING)
}
