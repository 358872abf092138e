//! Fingerprints of class files that change only with what a program can see.
//!
//! What a compiler adds for debuggers does not count: lines, names of local
//! variables, source files. Nor do the order of the constant pool, and that of
//! fields, methods, annotations and inner classes, to which the JVM gives no
//! meaning.

mod annotations;
// The agent is a crate of its own, where this is public.
#[allow(unreachable_pub)]
#[path = "../../../agents/jvm/src/classfile/mod.rs"]
mod classfile;
pub(crate) mod closure;
mod facts;
pub(crate) mod java;
mod junit;
pub(crate) mod left_over;
mod members;
mod normal;
mod session;
mod testng;

use std::path::Path;
use std::rc::Rc;

use anyhow::{Context, Result};

pub(crate) use junit::TestClass;
pub(crate) use members::{ANY, ClassUnits, Reference};
pub(crate) use testng::NgClass;

use super::{Closure, Facts, Language, Value};
use crate::matrix::{Classes, Fingerprint, Unit, What};
use crate::observe::Run;

/// What the agent is told where what compilers add for debuggers counts.
pub(crate) const DEBUG_INFO: &str = "debug-info=true";

/// Programs in class files.
pub(crate) struct Jvm;

impl Language for Jvm {
    fn name(&self) -> &'static str {
        "jvm"
    }

    fn wrote(&self, collector: &str) -> bool {
        collector == "jvm"
    }

    fn joins_files(&self) -> bool {
        true
    }

    fn value(&self, facts: &Facts<'_>, unit: &Unit) -> Result<Option<Value>> {
        facts::value(facts, unit)
    }

    fn closure(&self, _run: &mut Run<'_>) -> Result<Box<dyn Closure>> {
        Ok(Box::new(session::Classes::default()))
    }
}

/// A class file, in parts if it is understood.
#[derive(Clone, Debug)]
pub enum ClassAt {
    Missing,
    /// That of all its bytes stands for each part.
    Unread(Fingerprint),
    Read(Rc<ClassUnits>),
}

impl ClassAt {
    /// # Errors
    /// If the file is there and cannot be read.
    pub fn read(directory: &Path, name: &str) -> Result<ClassAt> {
        let file = directory.join(format!("{name}.class"));
        Ok(match crate::disk::read(&file) {
            Ok(bytes) => match ClassUnits::read(&bytes) {
                Ok(units) => ClassAt::Read(Rc::new(units)),
                Err(_) => ClassAt::Unread(class_fingerprint(&bytes)),
            },
            Err(error) if is_absent(&error) => ClassAt::Missing,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", file.display()));
            }
        })
    }

    /// What a part of it is worth: what a unit of kind `method`, `shape` or `member` is about.
    pub fn value(&self, what: &What) -> Fingerprint {
        match self {
            ClassAt::Missing => Fingerprint::MISSING,
            ClassAt::Unread(whole) => *whole,
            ClassAt::Read(units) => match what {
                What::Method(of) => units.code(of.rest()),
                What::Member(of) => units.member(of.rest()),
                What::Overrides(of) => units.overriding(of.rest()),
                What::Nest(of) => units.of_nest(of.rest()),
                _ => units.shape,
            },
        }
    }
}

/// The fingerprint of a class file; of one that is not understood, that of all
/// its bytes.
pub(crate) fn class_fingerprint(bytes: &[u8]) -> Fingerprint {
    match normal::normal_form(bytes) {
        Ok(form) => Fingerprint::of_digest("tamis jvm class 1", &form),
        Err(_) => Fingerprint::of_digest("tamis jvm class 1 raw", bytes),
    }
}

/// That of the class `name` (with slashes) beneath a directory of classes;
/// [`Fingerprint::MISSING`] if there is none.
///
/// # Errors
/// If something that is there cannot be read.
pub fn class_in(directory: &Path, name: &str) -> Result<Fingerprint> {
    let file = directory.join(format!("{name}.class"));
    match crate::disk::read(&file) {
        Ok(bytes) => Ok(class_fingerprint(&bytes)),
        Err(error) if is_absent(&error) => Ok(Fingerprint::MISSING),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
    }
}

/// What is told of all classes beneath a directory.
///
/// # Errors
/// If something that is there cannot be read.
pub(crate) fn classes_in_all(directory: &Path, classes: Classes) -> Result<Fingerprint> {
    match classes {
        Classes::All => all_in(directory),
        Classes::ForOthers => testng::for_others_in(directory),
        Classes::MayBeTests => junit::may_be_tests_in(directory),
    }
}

fn is_absent(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

fn all_in(directory: &Path) -> Result<Fingerprint> {
    let classes = classes_in(directory)?;
    if classes.is_empty() {
        return Ok(Fingerprint::MISSING);
    }
    let mut form = Vec::new();
    for name in classes {
        let file = directory.join(format!("{name}.class"));
        form.extend_from_slice(format!("{name}.class").as_bytes());
        form.push(0);
        form.extend_from_slice(&class_fingerprint(&crate::disk::read_named(file)?).0);
    }
    Ok(Fingerprint::of_digest("tamis jvm classes 1", &form))
}

/// The names of all classes beneath a folder, sorted.
///
/// # Errors
/// If a folder cannot be listed.
pub(crate) fn classes_in(directory: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    find_classes(directory, directory, &mut found)?;
    // As the files are sorted, with their endings.
    found.sort_by_cached_key(|name| format!("{name}.class"));
    Ok(found)
}

fn find_classes(top: &Path, dir: &Path, found: &mut Vec<String>) -> Result<()> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if is_absent(&error) => return Ok(()),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot list {}", dir.display()));
        }
    };
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            find_classes(top, &path, found)?;
        } else if path.extension().is_some_and(|ending| ending == "class") {
            let name = path.strip_prefix(top).unwrap_or(&path).with_extension("");
            found.push(name.to_string_lossy().into_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
