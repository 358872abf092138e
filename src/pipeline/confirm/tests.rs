//! What is planned for tests that values may excuse.

use super::*;
use crate::matrix::CellValue;
use crate::matrix::What;
use crate::matrix::samples::{facts, header};
use crate::matrix::{self, Fingerprint, MatrixBuilder, Own, RowFacts};

fn code(path: &str, name: &str) -> Unit {
    Unit::at(path, What::Code(name.into()))
}

fn holder(name: &str, path: &str, value: CellValue) -> matrix::Holder {
    matrix::Holder {
        name: name.into(),
        path: path.into(),
        cells: vec![("x".into(), value)],
    }
}

fn values(modules: &[&str]) -> Values {
    let is = || CellValue::Is(Fingerprint([1; 16]));
    let mut holders = vec![
        holder("*process", "", CellValue::Opaque("a lock".into())),
        holder("b:C", "b.py", is()),
    ];
    let of_module = |path: &&str| holder(path.trim_end_matches(".py"), path, is());
    holders.extend(modules.iter().map(of_module));
    Values {
        holders,
        ties: None,
    }
}

/// Tests with units of their own, and others that their rows have.
fn recorded_as(tests: &[(&str, &[Unit], &[Unit])], reads: matrix::Reads) -> Matrix {
    let mut builder = MatrixBuilder::new(header());
    for (test, own, others) in tests {
        let mut group = |units: &[Unit]| {
            let known = units.iter().map(|unit| {
                let known = builder.unit(unit.clone(), Fingerprint([2; 16]));
                known.unwrap()
            });
            let known: Vec<_> = known.collect();
            builder.group(known)
        };
        let (own, others) = (group(own), group(others));
        let facts = RowFacts {
            own: Some(Own {
                sets: vec![own],
                reads,
                inner: None,
            }),
            ..facts(test)
        };
        builder.row(facts, [own, others]).unwrap();
    }
    builder.finish()
}

/// What counts of a test.
fn part<'p>(plan: &'p Confirm<'_>, test: &str) -> &'p OpenPart {
    plan.tests[test].own.as_ref().unwrap()
}

/// Its path is its name; what it does besides is told by the name of what it is of.
fn reads_of(unit: &Unit) -> Option<UnitReads> {
    let path = unit.path.iter().take(1);
    let (holds, globals) = match (&unit.what, unit.path.as_slice()) {
        (What::Code(name), _) if **name == *"globals" => (vec![], vec!["b.py"]),
        (What::Code(_), _) | (_, b"passes.py") => (vec!["b.py", "elsewhere.py"], vec![]),
        _ => (vec![], vec![]),
    };
    let reads = UnitReads {
        names: path.map(|byte| u32::from(*byte)).collect(),
        holds: holds.into_iter().map(BString::from).collect(),
        globals: globals.into_iter().map(BString::from).collect(),
        members: *unit.name() == *"look",
        asks_runner: *unit.name() == *"ask",
        ..UnitReads::default()
    };
    unit.kind().is_source().then_some(reads)
}

fn plan<'d>(matrix: &'d Matrix, values: &'d Values, tests: &[&'d str]) -> Confirm<'d> {
    let mut planning = Planning::default();
    let asked = |test: &&'d str| Candidate {
        test,
        by: Some(By::Imports),
        runs: false,
    };
    let tests: Vec<_> = tests.iter().map(asked).collect();
    planning.add((matrix, values), std::iter::empty(), &tests, Vec::new());
    let read = |modules: &Needed, units: &[&Unit]| {
        let names = &modules[&BString::from("a.py")];
        assert_eq!(names.as_slice(), ["a"]);
        let reads = units.iter().map(|unit| reads_of(unit));
        let words = Words {
            asked: &["setup_module"],
            leading: vec!["vars"],
        };
        Ok((reads.collect(), words))
    };
    planning.finish(&Functions::default(), read).unwrap()
}

#[test]
fn tests_share_what_they_read_and_the_modules_that_they_need() {
    let effects = |path: &str| Unit::at(path, What::Effects);
    let env = Unit::of(What::Env("HOME".into()));
    let both = [effects("a.py"), effects("b.py")];
    let tests: &[(&str, &[Unit], &[Unit])] = &[
        ("t::1", &[code("a.py", "f"), env], &both),
        ("t::2", &[code("a.py", "g")], &both),
        ("t::3", &[code("a.py", "g"), code("b.py", "g")], &both),
        ("t::4", &[], &[effects("c.py")]),
    ];
    let flags = matrix::Reads {
        docstrings: true,
        ..matrix::Reads::default()
    };
    let matrix = recorded_as(tests, flags);
    let values = values(&["a.py", "b.py", "c.py"]);
    let plan = plan(&matrix, &values, &["t::1", "t::2", "t::3", "t::4", "t::5"]);
    let known: Vec<&str> = plan.tests.keys().copied().collect();
    assert_eq!(known, ["t::1", "t::2", "t::3", "t::4"]);
    assert_eq!(plan.asked, ["setup_module"]);
    let own = |test: &str| -> BTreeSet<usize> {
        let sets = part(&plan, test).sets.iter();
        sets.flat_map(|set| plan.sets[*set].clone()).collect()
    };
    let names = |test: &str| -> Vec<u32> {
        let units = own(test).into_iter();
        let mut names: Vec<u32> = { units }
            .flat_map(|at| plan.units[at].names.clone())
            .collect();
        names.sort_unstable();
        names
    };
    let (a, b) = (u32::from(b'a'), u32::from(b'b'));
    assert_eq!(names("t::1"), [a]);
    assert_eq!(own("t::1"), own("t::2"), "both functions read the same");
    assert_eq!(names("t::3"), [a, b]);
    assert_eq!(
        own("t::1").into_iter().collect::<Vec<_>>(),
        [0],
        "the commonest is the first"
    );
    assert!(own("t::4").is_empty());
    let paths = |test: &str| -> Vec<&str> {
        let modules = &plan.modules[part(&plan, test).modules];
        let mut paths: Vec<&str> = modules.iter().map(|at| plan.paths[*at].as_str()).collect();
        paths.sort_unstable();
        paths
    };
    assert_eq!(paths("t::3"), ["a.py", "b.py"]);
    assert_eq!(part(&plan, "t::1").modules, part(&plan, "t::3").modules);
    assert_eq!(paths("t::4"), ["c.py"]);
    let held = &plan.units[0].holds;
    assert_eq!(
        held.iter().map(|at| &plan.paths[*at]).collect::<Vec<_>>(),
        ["b.py"]
    );
    assert!(part(&plan, "t::1").flags.docstrings && !part(&plan, "t::1").flags.anything);
    let holders = &plan.matrices[0].holders;
    assert_eq!((holders[0].0, &holders[0].2[0].1), ("*process", &None));
    assert_eq!(
        (holders[1].1, &holders[1].2[0].1),
        ("b.py", &Some("01".repeat(16)))
    );
}

#[test]
fn what_import_time_code_passes_on_may_be_found_by_every_test_that_needs_it() {
    let effects = |path: &str| Unit::at(path, What::Effects);
    let whole = |path: &str| Unit::at(path, What::Skeleton);
    let lambda = |name: &str| Unit::at("a.py", What::Binding(name.into()));
    let tests: &[(&str, &[Unit], &[Unit])] = &[
        ("t::none", &[lambda("k")], &[effects("a.py")]),
        (
            "t::passed",
            &[lambda("k")],
            &[effects("passes.py"), effects("b.py")],
        ),
        ("t::whole", &[lambda("k")], &[whole("b.py")]),
        (
            "t::globals",
            &[lambda("k")],
            &[whole("b.py"), code("b.py", "globals")],
        ),
        ("t::wide", &[lambda("k")], &[whole("a.py"), whole("b.py")]),
        (
            "t::looks",
            &[lambda("look")],
            &[whole("a.py"), whole("b.py")],
        ),
        ("t::asks", &[lambda("ask")], &[whole("b.py")]),
        (
            "t::hook",
            &[Unit::at("a/conftest.py", What::Binding("ask".into()))],
            &[whole("b.py")],
        ),
    ];
    let matrix = recorded_as(tests, matrix::Reads::default());
    let values = values(&["a.py", "b.py", "passes.py", "a/conftest.py"]);
    let tests = tests.iter().map(|(test, ..)| *test).collect::<Vec<_>>();
    let plan = plan(&matrix, &values, &tests);
    let units = |test: &str| -> Vec<&OwnUnit> {
        let sets = part(&plan, test).sets.iter();
        let units = sets.flat_map(|set| &plan.sets[*set]);
        units.map(|unit| &plan.units[*unit]).collect()
    };
    let paths = |those: &[usize]| -> Vec<String> {
        those.iter().map(|path| plan.paths[*path].clone()).collect()
    };
    let loose = |test: &str| -> Vec<String> {
        let units = units(test).into_iter();
        units.flat_map(|unit| paths(&unit.loose)).collect()
    };
    assert_eq!(loose("t::none"), Vec::<String>::new());
    assert_eq!(loose("t::passed"), ["b.py"]);
    assert_eq!(loose("t::whole"), ["b.py"]);
    assert_eq!(loose("t::globals"), Vec::<String>::new());
    assert_eq!(loose("t::wide"), Vec::<String>::new());
    assert_eq!(loose("t::looks"), ["a.py", "b.py"]);
    assert_eq!(loose("t::asks"), ["b.py"]);
    let asks = |test: &str| units(test).iter().any(|unit| unit.asks_runner);
    assert!(asks("t::asks") && !asks("t::whole"));
    // Nobody knows what pytest gives to hooks.
    let held: Vec<String> = units("t::hook")
        .iter()
        .flat_map(|unit| paths(&unit.holds))
        .collect();
    assert_eq!(held, ["b.py"]);
}

#[test]
fn a_module_without_values_is_confirmed_for_nobody() {
    let tests: &[(&str, &[Unit], &[Unit])] = &[
        ("t::1", &[code("a.py", "f")], &[code("b.py", "g")]),
        ("t::2", &[code("a.py", "f")], &[]),
    ];
    let matrix = recorded_as(tests, matrix::Reads::default());
    // Of `b.py` there is a class, but not the module.
    let values = values(&["a.py"]);
    let of_both = plan(&matrix, &values, &["t::1", "t::2"]);
    assert_eq!(of_both.tests.keys().copied().collect::<Vec<_>>(), ["t::2"]);
    let of_one = plan(&matrix, &values, &["t::1"]);
    assert!(of_one.tests.is_empty() && of_one.matrices.is_empty());
}
