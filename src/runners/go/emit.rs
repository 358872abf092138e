//! What `go test` can be told in a later step: packages, and patterns for `-run` and `-skip`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

use crate::disk::write_atomically;
use crate::select::{Part, Selection, Verdict};

/// What is known of the tests of a package.
#[derive(Debug, Default)]
struct OfPackage<'a> {
    run: Vec<&'a str>,
    skip: Vec<&'a str>,
}

/// Writes `packages.txt`, with the packages that have something to run, and `go-run.txt` and
/// `go-skip.txt`: a line a package, with a tab before the pattern. With the latter, tests that
/// nobody knows run.
///
/// # Errors
/// If one cannot be written.
pub(super) fn write(selection: &Selection, part: Option<Part<'_>>, out: &Path) -> Result<()> {
    let mut packages: BTreeMap<&str, OfPackage<'_>> = BTreeMap::new();
    for (test, verdict) in &selection.verdicts {
        let Some((package, name)) = test.rsplit_once('.') else {
            continue;
        };
        let is_here = part.is_none_or(|part| part.has(test));
        let of = packages.entry(package).or_default();
        match verdict {
            Verdict::Run(_) if is_here => of.run.push(name),
            _ => of.skip.push(name),
        }
    }
    let has_tests = packages.iter().filter(|(_, of)| !of.run.is_empty());
    let names: String = has_tests
        .clone()
        .map(|(name, _)| format!("{name}\n"))
        .collect();
    let line = |name: &str, tests: &[&str]| match tests {
        [] => String::new(),
        tests => format!("{name}\t^({})$\n", tests.join("|")),
    };
    let run: String = has_tests.map(|(name, of)| line(name, &of.run)).collect();
    let skip: String = packages
        .iter()
        .map(|(name, of)| line(name, &of.skip))
        .collect();
    write_atomically(out.join("packages.txt"), names)?;
    write_atomically(out.join("go-run.txt"), run)?;
    Ok(write_atomically(out.join("go-skip.txt"), skip)?)
}
