//! Compiles programs, and compares their class files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use crate::harness::{files_below, has_programs};
use tamis::exposed::languages::jvm::class_in;
use tamis::exposed::languages::jvm::java::{Outline, Source, affected, outline};

/// Sources by path.
pub type Program = BTreeMap<String, String>;

/// Whether there is a JDK; CI must have one.
pub fn has_compiler() -> bool {
    has_programs(&["javac"])
}

/// The result of checking pairs of programs.
#[derive(Debug, Default)]
pub struct Checked {
    /// How many pairs compile on both sides.
    pub compiled: usize,
    /// How many class files differ, and how many of the sources were reported as affected.
    pub differ: usize,
    pub affected: usize,
    pub sources: usize,
    /// Why pairs do not compile.
    pub errors: Vec<String>,
}

/// Compiles each pair in one JVM, and fails if a class file differs that was not reported.
pub fn check(pairs: &[(Program, Program)]) -> Checked {
    let world = tempfile::tempdir().unwrap();
    let top = world.path();
    write(&top.join("Compiler.java"), include_str!("Compiler.java"));
    // Many pairs have a program in common, which is compiled once.
    let mut folders: BTreeMap<&Program, String> = BTreeMap::new();
    for program in pairs.iter().flat_map(|(was, is)| [was, is]) {
        let next = folders.len().to_string();
        folders.entry(program).or_insert_with(|| {
            fs_err::create_dir_all(top.join(&next).join("src")).unwrap();
            for (path, text) in program {
                write(&top.join(&next).join("src").join(path), text);
            }
            next
        });
    }
    let done = Command::new("java")
        .arg("-XX:TieredStopAtLevel=1")
        .arg("Compiler.java")
        .args(folders.values())
        .current_dir(top)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    let bad: BTreeMap<&str, &str> = told
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .collect();
    let mut checked = Checked::default();
    let mut wrong = String::new();
    for (at, (was, is)) in pairs.iter().enumerate() {
        let both = [was, is].map(|program| &folders[program]);
        let errors: Vec<&&str> = both
            .iter()
            .filter_map(|folder| bad.get(folder.as_str()))
            .collect();
        if !errors.is_empty() {
            let first: String = errors[0].chars().take(160).collect();
            checked.errors.push(first);
            continue;
        }
        checked.compiled += 1;
        let missed = missed(
            was,
            is,
            &top.join(both[0]).join("classes"),
            &top.join(both[1]).join("classes"),
            &mut checked,
        );
        if !missed.is_empty() {
            wrong.push_str(&format!("\npair {at}: {missed:?}\n{}", difference(was, is)));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    checked
}

/// The sources that differ between two programs, and the others.
fn difference(was: &Program, is: &Program) -> String {
    let mut text = String::new();
    for path in was
        .keys()
        .chain(is.keys().filter(|path| !was.contains_key(*path)))
    {
        let (old, new) = (was.get(path), is.get(path));
        match old == new {
            true => text.push_str(&format!("= {path}\n{}\n", old.unwrap())),
            false => text.push_str(&format!(
                "- {path}\n{}\n+ {}\n",
                old.map_or("", |old| old),
                new.map_or("", |new| new)
            )),
        }
    }
    text
}

/// The classes whose files differ though none of their sources was reported.
pub fn missed(
    was: &Program,
    is: &Program,
    old: &Path,
    new: &Path,
    checked: &mut Checked,
) -> Vec<String> {
    let paths: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    let read = |text: &String| -> Rc<Outline> {
        let read = outline(text.as_bytes());
        Rc::new(read.unwrap_or_else(|why| panic!("{why}: {text}")))
    };
    let sources: Vec<Source> = paths
        .iter()
        .map(|path| Source {
            was: was.get(*path).map(read),
            is: is.get(*path).map(read),
        })
        .collect();
    let found = affected(&sources);
    checked.sources += sources.len();
    checked.affected += found.iter().flatten().count();
    let mut missed = Vec::new();
    let classes: BTreeSet<String> = classes(old).into_iter().chain(classes(new)).collect();
    for class in classes {
        if class_in(old, &class).unwrap() == class_in(new, &class).unwrap() {
            continue;
        }
        checked.differ += 1;
        let makes = |side: &Option<Rc<Outline>>| side.as_ref().is_some_and(|one| one.makes(&class));
        let mut of_class = sources
            .iter()
            .zip(&found)
            .filter(|(source, _)| makes(&source.was) || makes(&source.is));
        if !of_class.any(|(_, affected)| affected.is_some()) {
            missed.push(class);
        }
    }
    missed
}

/// The same for two folders, each with `src` and `classes`.
pub fn missed_in(was: &Path, is: &Path) -> Vec<String> {
    let program = |folder: &Path| -> Program {
        let sources = files(&folder.join("src"), "java").into_iter();
        let text = |path: PathBuf| fs_err::read_to_string(path).unwrap();
        let named = sources.map(|path| {
            (
                path.strip_prefix(folder).unwrap().display().to_string(),
                path,
            )
        });
        named.map(|(name, path)| (name, text(path))).collect()
    };
    let (old, new) = (was.join("classes"), is.join("classes"));
    missed(
        &program(was),
        &program(is),
        &old,
        &new,
        &mut Checked::default(),
    )
}

/// The names of the classes beneath a folder.
fn classes(folder: &Path) -> Vec<String> {
    let named = files(folder, "class").into_iter().map(|path| {
        let name = path.strip_prefix(folder).unwrap().with_extension("");
        name.to_str().unwrap().to_owned()
    });
    named.collect()
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    if !folder.exists() {
        return Vec::new();
    }
    let mut found = files_below(folder);
    found.retain(|path| path.extension().is_some_and(|end| end == ending));
    found
}

fn write(path: &Path, text: &str) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, text).unwrap();
}

/// Random numbers that are the same every time.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % most
    }

    pub fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }
}
