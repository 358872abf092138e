//! Test classes of TestNG that cannot be left out alone.
//!
//! One run of TestNG has all test classes of a module. `@BeforeSuite` in one of them
//! prepares them all, tests can depend on those of other classes, and factories make
//! them. So what such a class does for others is lost to these where it is left out.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use bstr::ByteSlice;

use super::{class_files, outputs_of};
use crate::languages::jvm::NgClass;
use crate::runners::maven::source_of;
use crate::runners::{gradle, maven};

/// What is known to do nothing for other test classes.
const HARMLESS: [&str; 8] = [
    "java/",
    "javax/",
    "jakarta/",
    "groovy/lang/",
    "kotlin/",
    "scala/",
    "org/testng/",
    "org/springframework/test/context/testng/",
];

/// Sets to `false` what is left out of a project that is built, though others that run
/// need it. `tell` hears why.
pub(crate) fn keep_together(tests: &mut [(&str, bool)], project: &Path, tell: &dyn Fn(String)) {
    if !tests.iter().any(|(_, leaves)| *leaves) {
        return;
    }
    let Some(compiled) = Compiled::of(project) else {
        return;
    };
    let is_named = LazyCell::new(|| is_named_in(project));
    for module in &compiled.modules {
        let (mut left_out, mut runs) = (BTreeSet::new(), BTreeSet::new());
        for (test, leaves) in tests.iter() {
            let (id, class) = source_of(test);
            match leaves {
                _ if id != module.id => false,
                true => left_out.insert(class),
                false => runs.insert(class),
            };
        }
        let elsewhere = left_out
            .iter()
            .find(|class| !module.classes.contains(*class));
        let kept = match elsewhere {
            Some(class) if *is_named => Kept {
                classes: left_out.clone(),
                why: Some(format!(
                    "nobody knows where {} is compiled to",
                    dotted(class)
                )),
            },
            _ => compiled.kept(module, &left_out, &runs),
        };
        for (test, leaves) in tests.iter_mut() {
            let (id, class) = source_of(test);
            *leaves &= id != module.id || !kept.classes.contains(&class);
        }
        if let Some(why) = kept.why {
            tell(format!("TestNG runs more than has to: {why}"));
        }
    }
}

/// Whether a project that may not be built has tests of TestNG, as far as its sources
/// and its build's files say.
pub(crate) fn is_named_in(project: &Path) -> bool {
    let names = |path: &Path| {
        let text = crate::disk::read(path).unwrap_or_default();
        text.contains_str("testng")
    };
    let scripts = ["pom.xml", "build.gradle", "build.gradle.kts"];
    modules(project).iter().any(|module| {
        scripts.iter().any(|script| names(&module.join(script)))
            || sources(&module.join("src")).iter().any(|path| names(path))
    })
}

/// All files beneath a folder, those behind links as well.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    let mut seen = BTreeSet::new();
    while let Some(folder) = open.pop() {
        // Links can lead around in a circle.
        if !folder.canonicalize().is_ok_and(|real| seen.insert(real)) {
            continue;
        }
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path().is_dir() {
                true => open.push(entry.path()),
                false => found.push(entry.path()),
            }
        }
    }
    found
}

fn modules(project: &Path) -> BTreeSet<PathBuf> {
    let mut modules: BTreeSet<PathBuf> = maven::modules(project).into_iter().collect();
    modules.extend(gradle::modules(project));
    modules
}

struct Module {
    /// As ids of its tests begin.
    id: String,
    /// Names of the classes among its tests.
    classes: BTreeSet<String>,
    /// A class file among them that is not understood, or a folder that cannot be listed.
    unread: Option<PathBuf>,
}

/// By name: a class of the project with those that it extends and implements, and the names
/// of others among these.
type Chains<'a> = BTreeMap<&'a str, (Vec<&'a NgClass>, Vec<String>)>;

/// What runs though it is proven.
#[derive(Default)]
struct Kept {
    classes: BTreeSet<String>,
    why: Option<String>,
}

/// The compiled classes of a project.
#[derive(Default)]
struct Compiled {
    modules: Vec<Module>,
    /// Modules may have different ones of a name.
    by_name: BTreeMap<String, Vec<NgClass>>,
}

impl Compiled {
    /// `None` if no class of the project names one of TestNG's.
    fn of(project: &Path) -> Option<Compiled> {
        let mut compiled = Compiled::default();
        let mut is_used = false;
        for folder in modules(project) {
            let id = folder.strip_prefix(project).unwrap_or(&folder);
            let mut module = Module {
                id: id.to_string_lossy().into_owned(),
                classes: BTreeSet::new(),
                unread: None,
            };
            for output in outputs_of(&folder) {
                let Ok(files) = class_files(&output) else {
                    module.unread = Some(output);
                    continue;
                };
                for file in files {
                    match compiled.read(&file, &mut is_used) {
                        Some(name) => {
                            module.classes.insert(name);
                        }
                        None => module.unread = Some(file),
                    }
                }
            }
            let main = folder.join("target/classes");
            for output in gradle::main_outputs(&folder).into_iter().chain([main]) {
                let Ok(files) = class_files(&output) else {
                    module.unread = Some(output);
                    continue;
                };
                for file in files {
                    compiled.read(&file, &mut is_used);
                }
            }
            compiled.modules.push(module);
        }
        is_used.then_some(compiled)
    }

    /// The name of a class, which is known from now on.
    fn read(&mut self, file: &Path, is_used: &mut bool) -> Option<String> {
        let bytes = crate::disk::read(file).ok()?;
        *is_used |= bytes.contains_str("org/testng/");
        let class = NgClass::read(&bytes)?;
        let name = class.name.clone();
        self.by_name.entry(name.clone()).or_default().push(class);
        Some(name)
    }

    /// A class with all that it extends and implements: those of the project, and the
    /// names of others.
    fn chain(&self, class: &str) -> (Vec<&NgClass>, Vec<String>) {
        let (mut own, mut others) = (Vec::new(), Vec::new());
        let (mut open, mut seen) = (vec![class.to_owned()], BTreeSet::new());
        while let Some(name) = open.pop() {
            if !seen.insert(name.clone()) {
                continue;
            }
            match self.by_name.get(&name) {
                Some(classes) => {
                    own.extend(classes);
                    let supers = classes.iter().flat_map(|class| &class.supers);
                    open.extend(supers.cloned());
                }
                None => others.push(name),
            }
        }
        others.retain(|name| !HARMLESS.iter().any(|prefix| name.starts_with(prefix)));
        (own, others)
    }

    /// Which of these classes are tests.
    fn tests_among<'a>(&self, mut all: Chains<'a>, left_out: &BTreeSet<String>) -> Chains<'a> {
        all.retain(|name, (own, others)| {
            // It may have tests in a library, or none and yet do something for others.
            let is_test = own.iter().any(|class| class.has_tests)
                || !others.is_empty() && (left_out.contains(*name) || may_be_test(name))
                || left_out.contains(*name) && own.iter().any(|class| class.is_annotated);
            is_test && !self.by_name[*name].iter().all(|class| class.is_abstract)
        });
        all
    }

    /// What of a module cannot be left out while the rest of it runs, of which `runs`
    /// is known.
    fn kept(&self, module: &Module, left_out: &BTreeSet<String>, runs: &BTreeSet<String>) -> Kept {
        let all = module
            .classes
            .iter()
            .map(|name| (name.as_str(), self.chain(name)));
        let all: Chains<'_> = all.collect();
        let mut every = all.values().flat_map(|(own, _)| own);
        if !every.clone().any(|class| class.is_annotated) {
            return Kept::default();
        }
        let needing = every.find(|class| class.needs_others.is_some());
        let tests = self.tests_among(all.clone(), left_out);
        let is_idle = runs.is_empty() && tests.keys().all(|name| left_out.contains(*name));
        if is_idle && module.unread.is_none() {
            return Kept::default();
        }
        let keep_all = |why: String| Kept {
            classes: left_out.clone(),
            why: (!left_out.is_empty()).then_some(why),
        };
        if let Some(file) = &module.unread {
            return keep_all(format!("{} is not understood", file.display()));
        }
        if let Some((why, class)) =
            needing.and_then(|class| Some((class.needs_others.as_ref()?, class)))
        {
            return keep_all(format!("{why} in {}", dotted(&class.name)));
        }
        let mut kept = Kept::default();
        // What all have comes with each.
        let shared = done_for_others(&tests).into_values();
        for (who, why) in shared.filter(|(who, _)| who.len() < tests.len()) {
            let proven = who.into_iter().filter(|name| left_out.contains(*name));
            let before = kept.classes.len();
            kept.classes.extend(proven.map(str::to_owned));
            if kept.classes.len() > before {
                kept.why.get_or_insert(why);
            }
        }
        kept
    }
}

/// What each test class does for others, by who says so: who does that, and how it is told.
fn done_for_others<'a>(
    tests: &'a Chains<'a>,
) -> BTreeMap<(&'a str, &'a str), (BTreeSet<&'a str>, String)> {
    let mut shared: BTreeMap<(&str, &str), (BTreeSet<&str>, String)> = BTreeMap::new();
    let mut add = |kind, who, test, why: String| {
        let entry = shared.entry((kind, who));
        entry.or_insert((BTreeSet::new(), why)).0.insert(test);
    };
    for (test, (own, others)) in tests {
        for class in own {
            let place = dotted(&class.name);
            if let Some(what) = &class.for_others {
                add(
                    "class",
                    class.name.as_str(),
                    *test,
                    format!("{what} in {place}"),
                );
            }
            for listener in &class.listeners {
                add("listener", listener, test, format!("@Listeners in {place}"));
            }
        }
        for other in others {
            let why = format!("nobody knows what {} does for others", dotted(other));
            add("library", other, test, why);
        }
    }
    shared
}

/// Whether a class may be taken for a test by its name.
fn may_be_test(class: &str) -> bool {
    let name = class.rsplit('/').next().unwrap_or(class);
    !name.contains('$') && (name.contains("Test") || name.starts_with("IT") || name.ends_with("IT"))
}

fn dotted(class: &str) -> String {
    class.replace('/', ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(name: &str, supers: &[&str]) -> NgClass {
        NgClass {
            name: name.to_owned(),
            supers: supers.iter().map(|&name| name.to_owned()).collect(),
            is_annotated: true,
            has_tests: true,
            ..NgClass::default()
        }
    }

    fn base(name: &str) -> NgClass {
        NgClass {
            is_abstract: true,
            has_tests: false,
            for_others: Some("@BeforeSuite".to_owned()),
            ..class(name, &["java/lang/Object"])
        }
    }

    /// What is kept of the classes, all in one module, where `left_out` are proven.
    fn kept(classes: Vec<NgClass>, left_out: &[&str]) -> (Vec<String>, Option<String>) {
        let module = Module {
            id: String::new(),
            classes: classes.iter().map(|class| class.name.clone()).collect(),
            unread: None,
        };
        let named = classes
            .into_iter()
            .map(|class| (class.name.clone(), vec![class]));
        let compiled = Compiled {
            modules: Vec::new(),
            by_name: named.collect(),
        };
        let left_out: BTreeSet<String> = left_out.iter().map(|&name| name.to_owned()).collect();
        let kept = compiled.kept(&module, &left_out, &BTreeSet::new());
        (kept.classes.into_iter().collect(), kept.why)
    }

    #[test]
    fn sources_behind_links_are_read_once() {
        let top = tempfile::tempdir().unwrap();
        let src = top.path().join("src/test/java");
        fs_err::create_dir_all(&src).unwrap();
        fs_err::write(top.path().join("pom.xml"), "<project/>").unwrap();
        fs_err::write(src.join("A.java"), "import org.junit.Test;").unwrap();
        std::os::unix::fs::symlink("../..", src.join("around")).unwrap();
        assert!(!is_named_in(top.path()));
        let other = top.path().join("other");
        fs_err::create_dir(&other).unwrap();
        fs_err::write(other.join("B.java"), "import org.testng.annotations.Test;").unwrap();
        std::os::unix::fs::symlink("../../../other", src.join("linked")).unwrap();
        assert!(is_named_in(top.path()));
    }

    #[test]
    fn what_prepares_others_stays_while_they_run() {
        let all = || vec![base("Base"), class("A", &["Base"]), class("B", &[])];
        let (classes, why) = kept(all(), &["A"]);
        assert_eq!(classes, ["A"]);
        assert_eq!(why.as_deref(), Some("@BeforeSuite in Base"));
        // Nobody is left who would miss it.
        assert_eq!(kept(all(), &["A", "B"]).0, [""; 0]);
        assert_eq!(kept(all(), &["B"]).0, [""; 0]);
    }

    #[test]
    fn what_all_inherit_comes_with_each() {
        let all = || vec![base("Base"), class("A", &["Base"]), class("B", &["Base"])];
        assert_eq!(kept(all(), &["A"]), (Vec::new(), None));
        // A new class that does without it.
        let more = [all(), vec![class("C", &[])]].concat();
        assert_eq!(kept(more, &["A"]).0, ["A"]);
    }

    #[test]
    fn listeners_that_all_name_come_with_each() {
        let listens = |name: &str| NgClass {
            listeners: ["L".to_owned()].into(),
            ..class(name, &[])
        };
        let all = || vec![listens("A"), listens("B")];
        assert_eq!(kept(all(), &["A"]), (Vec::new(), None));
        let more = [all(), vec![class("C", &[])]].concat();
        let (classes, why) = kept(more, &["A"]);
        assert_eq!(classes, ["A"]);
        assert_eq!(why.as_deref(), Some("@Listeners in A"));
    }

    #[test]
    fn classes_without_tests_prepare_others_too() {
        let mut prepares = base("Prepares");
        prepares.is_abstract = false;
        let all = vec![prepares, class("A", &[])];
        assert_eq!(kept(all.clone(), &["Prepares"]).0, ["Prepares"]);
        assert_eq!(kept(all, &["A", "Prepares"]).0, [""; 0]);
    }

    #[test]
    fn tests_of_a_library_need_what_prepares_them() {
        let mut inherits = class("InheritsTest", &["lib/Contract"]);
        inherits.has_tests = false;
        let mut prepares = class("Prepares", &[]);
        prepares.for_others = Some("@BeforeSuite".to_owned());
        // It is new.
        let all = vec![inherits, prepares];
        assert_eq!(kept(all, &["Prepares"]).0, ["Prepares"]);
    }

    #[test]
    fn classes_of_one_name_are_all_asked() {
        let one = class("A", &["Base"]);
        let mut plain = base("Base");
        plain.for_others = None;
        let by_name = BTreeMap::from([
            ("A".to_owned(), vec![one]),
            ("B".to_owned(), vec![class("B", &[])]),
            ("Base".to_owned(), vec![plain, base("Base")]),
        ]);
        let module = Module {
            id: String::new(),
            classes: ["A".to_owned(), "B".to_owned()].into(),
            unread: None,
        };
        let compiled = Compiled {
            modules: Vec::new(),
            by_name,
        };
        let left_out = ["A".to_owned()].into();
        let kept = compiled.kept(&module, &left_out, &BTreeSet::new());
        assert_eq!(kept.classes, left_out);
    }

    #[test]
    fn a_base_in_a_library_may_prepare_others() {
        let all = |above: &str| vec![class("A", &[above]), class("B", &["java/lang/Object"])];
        assert_eq!(kept(all("lib/Arquillian"), &["A"]).0, ["A"]);
        assert_eq!(kept(all("org/testng/Assert"), &["A"]).0, [""; 0]);
    }

    #[test]
    fn tests_that_depend_on_others_run_with_them() {
        let mut first = class("A", &[]);
        first.needs_others = Some("@Factory".to_owned());
        let (classes, why) = kept(vec![first, class("B", &[]), class("C", &[])], &["B", "C"]);
        assert_eq!(classes, ["B", "C"]);
        assert_eq!(why.as_deref(), Some("@Factory in A"));
    }
}
