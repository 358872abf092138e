//! The programs of the JVM that tests need.

use std::process::Command;
use std::sync::Mutex;

use super::python::skip;

/// Whether all of `programs` are there. (To ask Maven for its version takes as long as to
/// compile a class: it is asked once.)
pub fn has_programs(programs: &[&'static str]) -> bool {
    static KNOWN: Mutex<Vec<(&str, bool)>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap();
    let mut all = true;
    for program in programs {
        let found = known.iter().find(|(name, _)| name == program);
        all &= found.map(|(_, is_there)| *is_there).unwrap_or_else(|| {
            let is_there = Command::new(program).arg("-version").output().is_ok();
            known.push((program, is_there));
            is_there
        });
    }
    drop(known);
    if !all {
        skip(&format!("this needs {}", programs.join(" and ")));
    }
    all
}
