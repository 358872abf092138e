//! Tests of Surefire in orders of tamis's choice: Maven runs once, and tells how it starts the
//! JVM of the tests, and which test classes there are. Orders then run in JVMs that are
//! started in the same way.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bstr::{BStr, BString};
use walkdir::WalkDir;

use super::xml::Element;
use super::{bytes_of, java_home, test_id};
use crate::count::counted;
use crate::error::Error;
use crate::matrix::Outcome;
use crate::order::{Process, Step};
use crate::run::{RunPlan, Served};
use crate::runners::jvm::{Captured, Server, Starter, capture, run_through};
use crate::runners::orders::{Cause, Limits, Ordered, Orders, Place, Ran, explained};

/// Files that Surefire writes below a module's `target`.
const REPORT: &str = "TEST-";

/// How often a test may take what else it may, where each use of a field stops it.
const WATCHED: u32 = 20;

/// JVMs that wait for orders.
pub(super) struct Sessions {
    command: Vec<OsString>,
    cwd: PathBuf,
    /// The top of the work tree.
    root: PathBuf,
    /// The folder of the module.
    folder: PathBuf,
    starter: Starter,
    server: Option<Server>,
    /// Ids as tamis has them.
    tests: Vec<String>,
    /// What stands in them before the name of a class.
    prefix: String,
    cannot_fork: Option<String>,
}

/// What a report of Surefire says of one class.
struct Suite {
    name: String,
    written: SystemTime,
    /// Names of methods, without what tells invocations apart, and how they ended.
    cases: Vec<(String, Outcome, Option<String>)>,
}

impl Sessions {
    /// Runs the command once, and starts a JVM that knows the tests.
    ///
    /// # Errors
    /// If it starts no JVM for tests of JUnit, or several modules have tests.
    pub(super) fn start(ordered: &Ordered<'_>) -> Result<Sessions, Error> {
        let home = java_home().ok_or_else(|| {
            Error::usage("no JDK was found").with_hint("set JAVA_HOME to the folder of one")
        })?;
        let since = SystemTime::now();
        let plan = RunPlan::plain(ordered.command.to_vec(), ordered.cwd);
        let (captured, served) = capture(plan, &home)?;
        let captured = one_module(captured, served)?;
        captured.check()?;
        let folder = captured.folder();
        let classes: Vec<String> = reports(&folder, since)
            .into_iter()
            .map(|one| one.name)
            .collect();
        if classes.is_empty() {
            let why = format!(
                "Surefire left no reports below {}, which tell the test classes",
                folder.join("target").display()
            );
            return Err(Error::usage(why).with_hint("orders need its TEST-*.xml"));
        }
        let starter = Starter::new(captured, classes)?;
        let server = starter.start()?;
        if server.tests.is_empty() {
            return Err(Error::usage("the command runs no tests of JUnit"));
        }
        let prefix = prefix(&folder, ordered);
        let tests = server.tests.iter().map(|test| format!("{prefix}{test}"));
        Ok(Sessions {
            command: ordered.command.to_vec(),
            cwd: ordered.cwd.to_owned(),
            root: ordered.root.to_owned(),
            folder,
            tests: tests.collect(),
            starter,
            server: Some(server),
            prefix,
            cannot_fork: None,
        })
    }

    /// Completes a place in `demo/A.java` by the folder where that lies, and its text.
    fn find_source(&self, place: &mut Place) {
        let folders = WalkDir::new(self.folder.join("src")).max_depth(3);
        let folders = folders.into_iter().filter_map(Result::ok);
        let mut files = folders.map(|folder| folder.path().join(&place.file));
        let Some(file) = files.find(|file| file.is_file()) else {
            return;
        };
        let text = crate::disk::read_to_string(&file).unwrap_or_default();
        let line = text.lines().nth(place.line.saturating_sub(1) as usize);
        place.text = line.unwrap_or_default().trim().to_owned();
        let shown = file.strip_prefix(&self.root).unwrap_or(&file);
        place.file = shown.to_string_lossy().into_owned();
    }

    /// The id of a test that the JVM knows by this name.
    fn id(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// The name by which the JVM knows a test.
    fn name<'t>(&self, id: &'t str) -> &'t str {
        id.strip_prefix(&self.prefix).unwrap_or(id)
    }

    /// An order with the names that the JVM knows.
    fn inside(&self, step: &Step) -> Step {
        let name = |test: &String| self.name(test).to_owned();
        Step {
            order: step.order.iter().map(name).collect(),
            process: step.process,
        }
    }

    /// What came of an order, with the ids that tamis has.
    fn outside(&self, ran: Ran) -> Ran {
        if self.prefix.is_empty() {
            return ran;
        }
        let id = |name: String| self.id(&name);
        let Ran { mut ended, said } = ran;
        ended.outcomes = with_keys(ended.outcomes, id);
        ended.seconds = with_keys(ended.seconds, id);
        if let Some(lost) = &mut ended.lost {
            lost.test = id(std::mem::take(&mut lost.test));
        }
        let said = with_keys(said, id);
        Ran { ended, said }
    }
}

fn with_keys<V>(map: BTreeMap<String, V>, id: impl Fn(String) -> String) -> BTreeMap<String, V> {
    map.into_iter()
        .map(|(name, value)| (id(name), value))
        .collect()
}

/// The JVM of the only module with tests.
fn one_module(captured: Vec<Captured>, mut served: Served) -> Result<Captured, Error> {
    let folders: BTreeSet<PathBuf> = captured.iter().map(Captured::folder).collect();
    if folders.len() > 1 {
        let shown: Vec<_> = folders
            .iter()
            .map(|one| one.display().to_string())
            .collect();
        let modules = counted(folders.len(), "module");
        let why = format!("{modules} have tests, each with JVMs of its own");
        return Err(Error::usage(why).with_hint(format!(
            "choose one with `-pl MODULE -am` behind the command: {}",
            shown.join(", ")
        )));
    }
    match captured.into_iter().next() {
        Some(captured) => Ok(captured),
        None => {
            let ended = served.end()?;
            let why = format!(
                "the command started no JVM for tests of its own (it ended with {})",
                ended.status()
            );
            Err(explained(why, &served)
                .with_hint("run the command by itself, and see what it says")
                .with_hint("orders need Surefire with a forkCount above 0"))
        }
    }
}

/// What stands before the name of a class in ids of the module in `folder`.
fn prefix(folder: &Path, ordered: &Ordered<'_>) -> String {
    let below = |path: &Path| {
        let path = fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let root = fs_err::canonicalize(ordered.root);
        let root = root.unwrap_or_else(|_| ordered.root.to_owned());
        let below = path.strip_prefix(root).map(bytes_of);
        below.unwrap_or_default()
    };
    let (module, project): (BString, BString) = (below(folder), below(ordered.project));
    let module: &BStr = module.as_ref();
    test_id("", module, project.as_ref())
}

/// The reports below a module that were written after `since`, the oldest first: so classes
/// are in the order in which they ran.
fn reports(module: &Path, since: SystemTime) -> Vec<Suite> {
    let files = WalkDir::new(module.join("target")).max_depth(2).into_iter();
    let read = |entry: walkdir::DirEntry| {
        let name = entry.file_name().to_str()?;
        let name = name.strip_prefix(REPORT)?.strip_suffix(".xml")?;
        let written = entry.metadata().ok()?.modified().ok()?;
        let is_new = written >= since;
        let cases = is_new
            .then(|| crate::disk::read(entry.path()).ok())
            .flatten()?;
        Some(Suite {
            cases: cases_of(&cases),
            name: name.to_owned(),
            written,
        })
    };
    let mut all: Vec<Suite> = files.filter_map(Result::ok).filter_map(read).collect();
    all.sort_by(|a, b| (a.written, &a.name).cmp(&(b.written, &b.name)));
    all
}

fn cases_of(report: &[u8]) -> Vec<(String, Outcome, Option<String>)> {
    let Ok(suite) = Element::read(report) else {
        return Vec::new();
    };
    let cases = suite
        .children
        .iter()
        .filter(|child| child.name == "testcase");
    let read = |case: &Element| {
        let name = case.attribute("name")?;
        let end = name.find(['(', '[', '{']).unwrap_or(name.len());
        let ended = case.children.iter().find_map(|child| {
            let outcome = match child.name.as_str() {
                "failure" | "error" => Outcome::Failed,
                "skipped" => Outcome::Skipped,
                _ => return None,
            };
            Some((outcome, child.attribute("message").map(str::to_owned)))
        });
        let (outcome, said) = ended.unwrap_or((Outcome::Passed, None));
        Some((name[..end].to_owned(), outcome, said))
    };
    cases.filter_map(read).collect()
}

impl Orders for Sessions {
    fn tests(&self) -> &[String] {
        &self.tests
    }

    fn scopes(&self, test: &str) -> Vec<String> {
        let class = test.split('#').next().unwrap_or(test);
        vec![class.to_owned()]
    }

    fn is_slow(&self) -> Option<&str> {
        self.cannot_fork.as_deref()
    }

    fn do_not_fork(&mut self, why: String) {
        self.cannot_fork = Some(why);
    }

    fn run(&mut self, step: &Step, limits: Limits<'_>) -> Result<Option<Ran>, Error> {
        let is_shared = step.process == Process::Forked && self.cannot_fork.is_none();
        let kept = if is_shared { self.server.take() } else { None };
        let mut server = match kept {
            Some(server) => server,
            None => self.starter.start()?,
        };
        let limits = |name: &str| limits(&self.id(name));
        let (ran, is_good) = server.run(&self.inside(step), &limits)?;
        if is_shared && is_good {
            self.server = Some(server);
        }
        Ok(ran.map(|ran| self.outside(ran)))
    }

    fn sees_accesses(&self) -> bool {
        false
    }

    fn record(&mut self, _: &[String], _: Limits<'_>, _: &Path) -> Result<Option<Ran>, Error> {
        Err(Error::usage(
            "what tests read and write is seen with pytest only",
        ))
    }

    fn explain(
        &mut self,
        order: &[String],
        _: &[String],
        limits: Limits<'_>,
    ) -> Result<Option<Cause>, Error> {
        let inside = self.inside(&Step {
            order: order.to_vec(),
            process: Process::Fresh,
        });
        let last = inside.order.last().map_or("", String::as_str);
        let (mut server, told) = self.starter.start_watched(last)?;
        let limits = |name: &str| limits(&self.id(name)) * WATCHED;
        let (ran, _) = server.run(&inside, &limits)?;
        server.end()?;
        if ran.is_none() {
            return Ok(None);
        }
        let text = crate::disk::read(&told).map_err(anyhow::Error::from)?;
        let mut cause: Cause = serde_json::from_slice(&text).map_err(anyhow::Error::from)?;
        for write in &mut cause.writes {
            write.test = self.id(&write.test);
        }
        let stacks = cause.writes.iter_mut().flat_map(|write| &mut write.stack);
        for place in cause.read.iter_mut().chain(stacks) {
            self.find_source(place);
        }
        Ok(Some(cause))
    }

    fn command_for(&self, order: &[String]) -> Vec<String> {
        let names = order.iter().map(|test| {
            let name = self.name(test);
            name.split_once('#').unwrap_or((name, ""))
        });
        let names: Vec<(&str, &str)> = names.collect();
        let command = self.command.iter();
        let mut words: Vec<String> = command
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        words.push(format!("-Dtest={}", selected(&names)));
        let has_orderers = self.starter.has_orderers();
        words.extend(run_order(&names, has_orderers).map(str::to_owned));
        words
    }

    fn reproduce(&mut self, order: &[String], _: Limits<'_>) -> Result<Option<Ran>, Error> {
        let words = self.command_for(order).into_iter().map(OsString::from);
        let plan = RunPlan::plain(words.collect(), &self.cwd);
        let since = SystemTime::now();
        if run_through(&plan)?.is_none() {
            return Ok(None);
        }
        let mut ran = Ran::default();
        let mut seen = Vec::new();
        for suite in reports(&self.folder, since) {
            for (method, outcome, said) in suite.cases {
                let test = self.id(&format!("{}#{method}", suite.name));
                if seen.last() != Some(&test) {
                    seen.push(test.clone());
                }
                if let Some(said) = said {
                    ran.said.insert(test.clone(), said);
                }
                let known = ran.ended.outcomes.entry(test).or_insert(outcome);
                if outcome == Outcome::Failed {
                    *known = outcome;
                }
            }
        }
        Ok((seen == order).then_some(ran))
    }
}

/// Methods of classes as Surefire's `test` has them.
fn selected(names: &[(&str, &str)]) -> String {
    let classes = names.chunk_by(|(one, _), (other, _)| one == other);
    let words = classes.map(|of_class| {
        let methods: Vec<&str> = of_class.iter().map(|(_, method)| *method).collect();
        match (of_class[0].0, methods.join("+")) {
            (class, methods) if methods.is_empty() => class.to_owned(),
            (class, methods) => format!("{class}#{methods}"),
        }
    });
    words.collect::<Vec<_>>().join(",")
}

/// What makes Surefire and JUnit run them in this order, if anything does: Surefire has no
/// order of one's choice, and JUnit 4 none for methods.
fn run_order(names: &[(&str, &str)], has_orderers: bool) -> impl Iterator<Item = &'static str> {
    let classes = names.iter().map(|(class, _)| *class);
    let order = match classes.is_sorted() {
        true => "-Dsurefire.runOrder=alphabetical",
        false => "-Dsurefire.runOrder=reversealphabetical",
    };
    let has_pair = names.windows(2).any(|two| two[0].0 == two[1].0);
    let by_name = "-Djunit.jupiter.testmethod.order.default=\
                   org.junit.jupiter.api.MethodOrderer$MethodName";
    let is_by_name = has_orderers
        && has_pair
        && names
            .windows(2)
            .all(|two| two[0].0 != two[1].0 || two[0].1 < two[1].1);
    std::iter::once(order).chain(is_by_name.then_some(by_name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_classes_and_methods() {
        let names = [("a.B", "x"), ("a.B", "y"), ("a.C", "z")];
        assert_eq!(selected(&names), "a.B#x+y,a.C#z");
        assert_eq!(run_order(&names, true).count(), 2);
        let names = [("a.C", ""), ("a.B", "x")];
        assert_eq!(selected(&names), "a.C,a.B#x");
        let order: Vec<_> = run_order(&names, true).collect();
        assert_eq!(order, ["-Dsurefire.runOrder=reversealphabetical"]);
    }

    #[test]
    fn a_report_tells_how_methods_ended() {
        let report =
            br#"<testsuite name="demo.ATest"><testcase name="many(int)[1]" classname="demo.ATest"/>
            <testcase name="bad"><failure message="no">x</failure></testcase>
            <testcase name="out"><skipped/></testcase></testsuite>"#;
        let word = |name: &str, outcome| (name.to_owned(), outcome, None);
        let mut bad = word("bad", Outcome::Failed);
        bad.2 = Some("no".to_owned());
        let wanted = [
            word("many", Outcome::Passed),
            bad,
            word("out", Outcome::Skipped),
        ];
        assert_eq!(cases_of(report), wanted);
        assert_eq!(cases_of(b"<testsuite"), []);
    }
}
