//! Arguments that tell pytest what to leave out, where tamis' plug-in is not loaded.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;

use crate::disk::write_atomically;
use crate::select::{Part, Selection, Verdict};

/// Writes `pytest.args` into `out`, an argument a line (`pytest @FILE` reads it
/// from pytest 8.2 on). It leaves out only tests whose proof is complete
/// without a look at the test environment, because without the plug-in nobody
/// looks.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn write(selection: &Selection, part: Option<Part<'_>>, out: &Path) -> Result<()> {
    let mut args = String::new();
    for prefix in prefixes(selection, part) {
        let _ = writeln!(args, "--deselect={prefix}");
    }
    Ok(write_atomically(out.join("pytest.args"), args)?)
}

/// Arguments for `--deselect`, which compares *prefixes* of ids: the argument
/// `a.py::test_x` would leave out `a.py::test_xy` as well. So an id is used
/// only where no test that must run, known or new, can begin with it: the
/// list of tests must be proven unchanged, and no known test that runs may
/// share the prefix.
fn prefixes(selection: &Selection, part: Option<Part<'_>>) -> Vec<String> {
    let mut prefixes: Vec<String> = Vec::new();
    if selection.inventory_doubt.is_some() {
        return prefixes;
    }
    let is_left_out = |test: &str, verdict: &Verdict| match (part, verdict) {
        (Some(part), _) if !part.has(test) => true,
        (_, verdict) => verdict.is_proven(),
    };
    let (leaves, stays): (Vec<_>, Vec<_>) = selection
        .verdicts
        .iter()
        .partition(|(test, verdict)| is_left_out(test, verdict));
    let stays: Vec<&str> = stays.into_iter().map(|(test, _)| test.as_str()).collect();
    // `stays` is sorted: whatever begins with a prefix stands right after it.
    let is_free = |prefix: &str| {
        let at = stays.partition_point(|test| *test < prefix);
        stays.get(at).is_none_or(|test| !test.starts_with(prefix))
    };
    for (test, _) in leaves {
        let test = test.as_str();
        if test.contains(['\n', '\r']) {
            continue;
        }
        let covered = prefixes
            .last()
            .is_some_and(|last| test.starts_with(last.as_str()));
        if covered {
            continue;
        }
        // The widest prefix that leaves out nothing else keeps the file short.
        let wide = test
            .match_indices("::")
            .map(|(at, _)| &test[..at + 2])
            .find(|prefix| is_free(prefix));
        let widest = wide.or_else(|| is_free(test).then_some(test));
        prefixes.extend(widest.map(str::to_owned));
    }
    prefixes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::samples::evidence;
    use crate::select::{Reason, Shards, Strategy};

    fn selection(excluded: &[&str], run: &[&str]) -> Selection {
        let mut selection = Selection::all(Strategy::Auto, "");
        selection.all_because = None;
        selection.is_whole();
        for test in excluded {
            selection
                .verdicts
                .insert((*test).into(), Verdict::Skip(evidence()));
        }
        for test in run {
            selection
                .verdicts
                .insert((*test).into(), Verdict::Run(Reason::New));
        }
        selection
    }

    #[test]
    fn a_prefix_never_leaves_out_a_test_that_runs() {
        let chosen = |excluded: &[&str], run: &[&str]| prefixes(&selection(excluded, run), None);
        assert_eq!(chosen(&["a.py::t", "a.py::u"], &["b.py::t"]), ["a.py::"]);
        assert!(chosen(&["a.py::t"], &["a.py::tx"]).is_empty());
        assert_eq!(
            chosen(&["a.py::C::t", "a.py::u"], &["a.py::v"]),
            ["a.py::C::", "a.py::u"]
        );
        assert_eq!(chosen(&["a.py::t[1]"], &["a.py::t[2]"]), ["a.py::t[1]"]);
    }

    #[test]
    fn nothing_is_left_out_plainly_while_the_list_of_tests_is_in_doubt() {
        let mut selection = selection(&["a.py::t"], &[]);
        selection.inventory_doubt = Some("x".into());
        assert!(prefixes(&selection, None).is_empty());
    }

    #[test]
    fn a_part_leaves_out_what_others_run() {
        let mut selection = selection(&["a.py::t", "b.py::t"], &["a.py::u", "b.py::u"]);
        for verdict in selection.verdicts.values_mut() {
            if let Verdict::Skip(evidence) = verdict {
                evidence.is_open = true;
            }
        }
        let shards = Shards::divide(&selection, 2, |test| super::super::source_of(test).0);
        for index in [1, 2] {
            let plan = "p";
            let part = Part {
                shards: &shards,
                index,
                plan,
                guests: None,
            };
            let other = match shards.is_in("a.py::t", index) {
                true => "b.py::",
                false => "a.py::",
            };
            assert_eq!(prefixes(&selection, Some(part)), [other]);
        }
    }

    #[test]
    fn ids_with_line_ends_are_kept_out_of_arguments() {
        let selection = selection(&["a.py::t[\n]"], &["a.py::u"]);
        assert!(prefixes(&selection, None).is_empty());
    }
}
