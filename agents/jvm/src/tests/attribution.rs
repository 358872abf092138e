//! Which code is attributed to which test class.

use std::thread;

use crate::state::{Class, Kind, Method, State, Step, Use, member_hash};
use crate::trace::Trace;

struct World {
    state: State,
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        let trace = Trace::create(&folder.path().join("x.trace")).unwrap();
        World {
            state: State::new(trace),
            folder,
        }
    }

    /// A class with one method, whose probe's number is returned.
    fn class(&mut self, name: &str, needs: &[&str], mentions: &[(&str, Option<u64>)]) -> u32 {
        let class = Class {
            symbol: self.state.symbol(name),
            origin: Some("/o".to_owned()),
            needs: needs.iter().map(|name| self.state.symbol(name)).collect(),
            declared: [member_hash(b"m", b"()V")].into(),
            ..Class::default()
        };
        let mentions = mentions
            .iter()
            .map(|(name, member)| (self.state.symbol(name), *member))
            .collect();
        let method = Method {
            class: self.state.next_class(),
            mentions,
            name: "m()V".into(),
            ..Method::default()
        };
        let probe = self.state.probes();
        self.state.loaded(class, vec![method], &[]);
        probe
    }

    fn run(&mut self, test: &str, probes: &[u32]) {
        self.state.begin(test, None, thread::current().id());
        self.state.hit(probes);
        self.state.end(test, "passed");
    }

    fn records(&self) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(self.folder.path().join("x.trace")).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// How often the trace says that a test has ended.
    fn ends(&self, test: &str) -> usize {
        let records = self.records().into_iter();
        records
            .filter(|record| record[0] == "t" && record[2] == *test)
            .count()
    }

    /// The names of the classes in the closure of a test's scope, whole or in part.
    fn row(&self, test: &str) -> Vec<String> {
        let records = self.records();
        let of = |tag: &'static str| records.iter().filter(move |record| record[0] == *tag);
        let scope = of("b").find(|record| record[2] == *test).unwrap()[1].clone();
        self.units_of(&scope.to_string())
    }

    /// The same for a scope by number.
    fn units_of(&self, scope: &str) -> Vec<String> {
        let records = self.records();
        let of = |tag: &'static str| records.iter().filter(move |record| record[0] == *tag);
        let scope: serde_json::Value = serde_json::from_str(scope).unwrap();
        let (mut open, mut seen, mut units) = (vec![scope], vec![], vec![]);
        while let Some(scope) = open.pop() {
            if seen.contains(&scope) {
                continue;
            }
            for add in of("+").filter(|record| record[1] == scope) {
                units.extend(add[2].as_array().unwrap().clone());
                open.extend(add[3].as_array().unwrap().clone());
            }
            seen.push(scope);
        }
        let named = of("u").filter(|unit| units.contains(&unit[1]));
        let mut names: Vec<String> = named
            .map(|unit| {
                unit[4]
                    .as_str()
                    .unwrap()
                    .split('#')
                    .next()
                    .unwrap()
                    .to_owned()
            })
            .collect();
        names.sort();
        names.dedup();
        names
    }
}

#[test]
fn a_class_brings_what_it_needs_and_what_its_methods_name() {
    let mut world = World::new();
    world.class("T", &[], &[]);
    world.class("I", &[], &[]);
    world.class("S", &["I"], &[]);
    let own = Some(member_hash(b"m", b"()V"));
    let inherited = Some(member_hash(b"n", b"()V"));
    world.class("Declares", &[], &[]);
    world.class("Inherits", &[], &[]);
    world.class("Field", &[], &[]);
    let probe = world.class(
        "C",
        &["S"],
        &[
            ("Declares", own),
            ("Inherits", inherited),
            ("Field", None),
            ("NotLoaded", None),
        ],
    );
    world.run("T", &[probe]);
    assert_eq!(world.row("T"), ["C", "Field", "I", "Inherits", "S", "T"]);
}

#[test]
fn static_initialisers_are_charged_to_all_who_use_the_class() {
    let mut world = World::new();
    let thread = thread::current().id();
    world.class("A", &[], &[]);
    world.class("B", &[], &[]);
    let factory = world.class("Factory", &[], &[]);
    let holder = world.class("Holder", &[], &[]);
    let before = world.class("Before", &[], &[]);
    world.state.begin("A", None, thread);
    world.state.hit(&[before]);
    world.state.entered(holder, thread);
    world.state.hit(&[holder, factory]);
    world.state.left(holder, thread);
    world.state.end("A", "passed");
    world.run("B", &[holder]);
    assert_eq!(world.row("A"), ["A", "Before", "Factory", "Holder"]);
    assert_eq!(world.row("B"), ["B", "Factory", "Holder"]);
}

#[test]
fn what_sets_a_static_is_charged_to_later_users() {
    let mut world = World::new();
    world.class("A", &[], &[]);
    world.class("B", &[], &[]);
    world.class("C", &[], &[]);
    let factory = world.class("Factory", &[], &[]);
    let holder = world.class("Holder", &[], &[]);
    world.state.begin("A", None, thread::current().id());
    world.state.hit(&[holder, factory]);
    world.state.changed("A", &["Holder".to_owned()]);
    world.state.end("A", "passed");
    world.run("B", &[holder]);
    world.run("C", &[]);
    assert_eq!(world.row("B"), ["A", "B", "Factory", "Holder"]);
    assert_eq!(world.row("C"), ["C"]);
}

#[test]
fn who_looked_before_a_change_does_not_depend_on_it() {
    let mut world = World::new();
    for name in ["A", "B", "C", "D"] {
        world.class(name, &[], &[]);
    }
    let holder = world.class("Holder", &[], &[]);
    for (test, changes) in [("A", true), ("B", false), ("C", true), ("D", false)] {
        world.state.begin(test, None, thread::current().id());
        world.state.hit(&[holder]);
        if changes {
            world.state.changed(test, &["Holder".to_owned()]);
        }
        world.state.end(test, "passed");
    }
    assert_eq!(world.row("A"), ["A", "Holder"]);
    assert_eq!(world.row("B"), ["A", "B", "Holder"]);
    assert_eq!(world.row("D"), ["A", "C", "D", "Holder"]);
}

#[test]
fn what_is_outside_of_tests_asks_for_itself() {
    use crate::state::cells::LOCALE;
    let mut world = World::new();
    for name in ["A", "B", "C"] {
        world.class(name, &[], &[]);
    }
    let locale = State::cell_name(LOCALE);
    world.state.begin("A", None, thread::current().id());
    world.state.changed("A", &[locale]);
    world.state.end("A", "passed");
    world.state.asked_cell(LOCALE);
    world.run("B", &[]);
    world.run("C", &[LOCALE]);
    assert_eq!(world.row("B"), ["B"]);
    assert_eq!(world.row("C"), ["A", "C"]);
}

#[test]
fn tests_that_run_at_once_share_what_happens() {
    let mut world = World::new();
    let other = thread::spawn(|| thread::current().id()).join().unwrap();
    world.class("A", &[], &[]);
    world.class("B", &[], &[]);
    let used = world.class("Used", &[], &[]);
    world.state.begin("A", None, thread::current().id());
    world.state.begin("B", None, other);
    world.state.hit(&[used]);
    world.state.end("A", "passed");
    world.state.end("B", "passed");
    assert_eq!(world.row("A"), ["A", "Used"]);
    assert_eq!(world.row("B"), ["B", "Used"]);
}

fn begin_part(world: &mut World, class: &str, method: &str, thread: thread::ThreadId) -> String {
    let test = format!("{class}#{method}");
    world.state.begin(&test, Some(class), thread);
    test
}

#[test]
fn what_a_class_does_around_its_methods_counts_for_each() {
    let mut world = World::new();
    let here = thread::current().id();
    for name in ["A", "B"] {
        world.class(name, &[], &[]);
    }
    let before = world.class("Before", &[], &[]);
    let one = world.class("One", &[], &[]);
    let two = world.class("Two", &[], &[]);
    let after = world.class("After", &[], &[]);
    world.state.begin_container("A", Kind::Methods, here);
    world.state.hit(&[before]);
    for (method, probe) in [("one", one), ("two", two), ("one", two)] {
        world.state.resume(&format!("A#{method}"), "A", here);
        world.state.hit(&[probe]);
        world.state.pause(&format!("A#{method}"));
    }
    world.state.hit(&[after]);
    world.state.end_container("A");
    assert_eq!(world.row("A#one"), ["A", "After", "Before", "One", "Two"]);
    assert_eq!(world.row("A#two"), ["A", "After", "Before", "Two"]);
    assert_eq!(world.ends("A#one"), 1);
}

#[test]
fn another_class_that_is_between_its_methods_may_have_done_it() {
    let mut world = World::new();
    let here = thread::current().id();
    let other = thread::spawn(|| thread::current().id()).join().unwrap();
    for name in ["A", "B"] {
        world.class(name, &[], &[]);
    }
    let used = world.class("Used", &[], &[]);
    world.state.begin_container("A", Kind::Platform, here);
    let running = begin_part(&mut world, "A", "m", here);
    world.state.begin_container("B", Kind::Platform, other);
    world.state.hit(&[used]);
    world.state.end(&running, "passed");
    let later = begin_part(&mut world, "B", "m", other);
    world.state.end(&later, "passed");
    assert_eq!(world.row("A#m"), ["A", "Used"]);
    assert_eq!(world.row("B#m"), ["B", "Used"]);
}

#[test]
fn methods_on_several_threads_share_what_their_class_did() {
    let mut world = World::new();
    let here = thread::current().id();
    let other = thread::spawn(|| thread::current().id()).join().unwrap();
    world.class("A", &[], &[]);
    let early = world.class("Early", &[], &[]);
    let late = world.class("Late", &[], &[]);
    world.state.begin_container("A", Kind::Platform, here);
    let first = begin_part(&mut world, "A", "first", here);
    // This may also be the second one's constructor, on the other thread.
    world.state.hit(&[early]);
    let second = begin_part(&mut world, "A", "second", other);
    world.state.end(&second, "passed");
    world.state.hit(&[late]);
    world.state.end(&first, "passed");
    let third = begin_part(&mut world, "A", "third", here);
    world.state.end(&third, "passed");
    for test in [first, second, third] {
        assert_eq!(world.row(&test), ["A", "Early", "Late"], "{test}");
    }
}

#[test]
fn any_test_that_runs_may_have_changed_a_static() {
    let mut world = World::new();
    let here = thread::current().id();
    let other = thread::spawn(|| thread::current().id()).join().unwrap();
    for name in ["A", "B", "C"] {
        world.class(name, &[], &[]);
    }
    let factory = world.class("Factory", &[], &[]);
    let holder = world.class("Holder", &[], &[]);
    world.state.begin("B", None, other);
    world.state.hit(&[factory]);
    world.state.begin("A", None, here);
    world.state.changed("A", &["Holder".to_owned()]);
    world.state.end("A", "passed");
    world.state.end("B", "passed");
    world.run("C", &[holder]);
    assert_eq!(world.row("C"), ["A", "B", "C", "Factory", "Holder"]);
}

#[test]
fn what_finds_the_tests_of_a_class_counts_for_it() {
    let mut world = World::new();
    let here = thread::current().id();
    for name in ["A", "B"] {
        world.class(name, &[], &[]);
    }
    let listener = world.class("Listener", &[], &[]);
    let data = world.class("Data", &[], &[]);
    let inner = world.class("Inner", &[], &[]);
    let after = world.class("After", &[], &[]);
    // No engine announced that it would tell the end.
    world.state.begin_prelude("B", Step::Resolving);
    world.state.hit(&[listener]);
    world.state.discovers(here);
    world.state.begin_prelude("A", Step::Resolving);
    world.state.hit(&[data]);
    // The work of another engine inside belongs to the same class.
    world.state.discovers(here);
    assert!(!world.state.has_prelude());
    world.state.begin_prelude("B", Step::Resolving);
    world.state.hit(&[inner]);
    world.state.discovered();
    assert!(world.state.has_prelude());
    world.state.end_prelude();
    world.state.discovered();
    world.state.hit(&[after]);
    world.run("A", &[]);
    world.run("B", &[]);
    assert_eq!(world.row("A"), ["A", "Data", "Inner"]);
    assert_eq!(world.row("B"), ["B"]);
    world.state.flush();
    assert_eq!(world.units_of("0"), ["After", "Listener"]);
}

#[test]
fn what_was_only_looked_at_for_tests_is_not_told() {
    let mut world = World::new();
    world.class("A", &[], &[]);
    world.class("NoTest", &[], &[]);
    world.state.discovers(thread::current().id());
    for name in ["A", "NoTest"] {
        world.state.begin_prelude(name, Step::Resolving);
        world.state.used(name, Use::LookedAt);
        world.state.end_prelude();
    }
    world.state.discovered();
    world.run("A", &[]);
    let of_no_test = |unit: &serde_json::Value| unit[4] == "NoTest";
    assert!(!world.records().iter().any(of_no_test));
}
