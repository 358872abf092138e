//! The names of units: how reports, JSON and agents call what a unit is about.
//! Formats 1 and 2 stored units by kind and name.
//!
//! | name | is |
//! |---|---|
//! | `untracked`, `audit` of a file; `untracked`, `written` of a path | what is said of it |
//! | `n?`; `f.->`, `C.:`, `f.''`, `C.""` | whether `n` is bound; annotations and docstrings |
//! | `*`, `*testng`, `*suite` of classes | what is told of all of a folder |
//! | `A#f(I)V`, `A#x:I`, `A~…`, `A>A$B` | a member; what it overrides; whether it is of the nest |
//! | `[pytest11]`, `start-up`, `*` of the environment | plug-ins; flags of the process; all variables |
//! | `args`, `<finds> {…}`, `pom name …` | options; where tests are looked for; what a pom keeps |

use std::borrow::Cow;

use bstr::BString;

use super::what::{Classes, InClass, Note, What};
use super::{Unit, UnitKind};

const UNTRACKED: &str = "untracked";
const AUDITED: &str = "audit";
const WRITTEN: &str = "written";
const OF_SOURCES: &str = "<of these sources>";
const NOT_OF_SOURCES: &str = "<not only of these sources> ";
const PLUGINS: &str = "[pytest11]";
const START_UP: &str = "start-up";
const ALL: &str = "*";
const OPTIONS: &str = "args";
const FINDS: &str = "<finds> ";
const KEPT: &str = "pom";

fn word_of_note(note: Note) -> &'static str {
    match note {
        Note::FunctionAnnotations => "->",
        Note::MemberAnnotations => ":",
        Note::FunctionDocstring => "''",
        Note::ClassDocstring => "\"\"",
    }
}

fn word_of_classes(classes: Classes) -> &'static str {
    match classes {
        Classes::All => ALL,
        Classes::ForOthers => "*testng",
        Classes::MayBeTests => "*suite",
    }
}

impl What {
    /// What it is, in a word.
    pub fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed(match self {
            What::UntrackedFile | What::UntrackedExists => UNTRACKED,
            What::AuditedFile => AUDITED,
            What::Written => WRITTEN,
            What::File
            | What::Exists
            | What::Lookup
            | What::Dir
            | What::Listing
            | What::Skeleton
            | What::Effects => "",
            What::Code(name)
            | What::Binding(name)
            | What::Class(name)
            | What::Dist(name)
            | What::Runtime(name)
            | What::Env(name)
            | What::RunnerConfig(name)
            | What::Shape(name)
            | What::Reached(name)
            | What::Line(name)
            | What::Other(name) => name,
            What::Presence(name) => return Cow::Owned(format!("{name}?")),
            What::Note(note, of) if of.is_empty() => word_of_note(*note),
            What::Note(note, of) => return Cow::Owned(format!("{of}.{}", word_of_note(*note))),
            What::Classes(classes) => word_of_classes(*classes),
            What::OfSources => OF_SOURCES,
            What::NotOfSources(why) => return Cow::Owned(format!("{NOT_OF_SOURCES}{why}")),
            What::Plugins => PLUGINS,
            What::StartUp => START_UP,
            What::AllEnv => ALL,
            What::Options => OPTIONS,
            What::Finds(_) => return Cow::Owned(format!("{FINDS}{}", self.text())),
            What::KeptConfig(kept) => {
                let kept = kept.iter().map(|part| format!(" {part}"));
                return Cow::Owned(format!("{KEPT}{}", kept.collect::<String>()));
            }
            What::Method(of) | What::Member(of) => return Cow::Owned(joined(of, '#')),
            What::Overrides(of) => return Cow::Owned(joined(of, '~')),
            What::Nest(of) => return Cow::Owned(joined(of, '>')),
        })
    }
}

impl Unit {
    /// What the unit is about besides its path, in a word.
    pub fn name(&self) -> Cow<'_, str> {
        self.what.name()
    }

    /// The unit of this kind and name. What no name of the kind says is
    /// [`What::Other`].
    pub fn named(kind: UnitKind, path: impl Into<BString>, name: &str) -> Unit {
        let path = path.into();
        let what = what_of(kind, path.is_empty(), name);
        let other = || What::Other(format!("{} {name}", kind.word()).into());
        Unit::at(path, what.unwrap_or_else(other))
    }
}

fn joined(of: &InClass, sign: char) -> String {
    format!("{}{sign}{}", of.class(), of.rest())
}

/// Two names of one kind and path are never about the same.
fn what_of(kind: UnitKind, has_no_path: bool, name: &str) -> Option<What> {
    let found = match (kind, name) {
        (UnitKind::File, "") => What::File,
        (UnitKind::File, UNTRACKED) => What::UntrackedFile,
        (UnitKind::File, AUDITED) => What::AuditedFile,
        (UnitKind::Exists, "") => What::Exists,
        (UnitKind::Exists, UNTRACKED) => What::UntrackedExists,
        (UnitKind::Exists, WRITTEN) => What::Written,
        (UnitKind::Lookup, "") => What::Lookup,
        (UnitKind::Dir, "") => What::Dir,
        (UnitKind::Listing, "") => What::Listing,
        (UnitKind::Skeleton, "") => What::Skeleton,
        (UnitKind::Effects, "") => What::Effects,
        (UnitKind::Code, _) => What::Code(name.into()),
        (UnitKind::Binding, _) => of_binding(name),
        (UnitKind::Class, OF_SOURCES) if has_no_path => What::OfSources,
        (UnitKind::Class, _) => of_class(has_no_path, name),
        (UnitKind::Dist, PLUGINS) => What::Plugins,
        (UnitKind::Dist, _) => What::Dist(name.into()),
        (UnitKind::Runtime, START_UP) => What::StartUp,
        (UnitKind::Runtime, _) => What::Runtime(name.into()),
        (UnitKind::Env, ALL) => What::AllEnv,
        (UnitKind::Env, _) => What::Env(name.into()),
        (UnitKind::Config, OPTIONS) if has_no_path => What::Options,
        (UnitKind::Config, _) if has_no_path => What::finds(name.strip_prefix(FINDS)?)?,
        (UnitKind::Config, _) => {
            let mut words = name.split(' ');
            match words.next() {
                Some(KEPT) => What::KeptConfig(words.map(str::to_owned).collect()),
                _ => What::RunnerConfig(name.into()),
            }
        }
        (UnitKind::Method, _) => What::Method(parted(name, '#')?),
        (UnitKind::Shape, _) => What::Shape(name.into()),
        (UnitKind::Member, _) => match name.chars().find(|sign| "#~>".contains(*sign))? {
            '#' => What::Member(parted(name, '#')?),
            '~' => What::Overrides(parted(name, '~')?),
            sign => What::Nest(parted(name, sign)?),
        },
        (UnitKind::Reached, _) => What::Reached(name.into()),
        (UnitKind::Line, _) => What::Line(name.into()),
        (UnitKind::Other, _) => What::Other(name.into()),
        _ => return None,
    };
    Some(found)
}

fn of_class(has_no_path: bool, name: &str) -> What {
    // Classes can lie in the top folder, which has no path either.
    if has_no_path && let Some(why) = name.strip_prefix(NOT_OF_SOURCES) {
        return What::NotOfSources(why.into());
    }
    let is_named = |classes: &Classes| word_of_classes(*classes) == name;
    match Classes::ALL.into_iter().find(is_named) {
        Some(classes) => What::Classes(classes),
        None => What::Class(name.into()),
    }
}

fn of_binding(name: &str) -> What {
    if let Some(name) = name.strip_suffix('?') {
        return What::Presence(name.into());
    }
    let (of, last) = match name.rsplit_once('.') {
        // Nobody is called nothing.
        Some(("", _)) => return What::Binding(name.into()),
        Some(parts) => parts,
        None => ("", name),
    };
    let is_named = |note: &Note| word_of_note(*note) == last;
    match Note::ALL.into_iter().find(is_named) {
        Some(note) => What::Note(note, of.into()),
        None => What::Binding(name.into()),
    }
}

fn parted(name: &str, sign: char) -> Option<InClass> {
    let (class, rest) = name.split_once(sign)?;
    // It would be written with slashes.
    (!class.contains('.')).then(|| InClass::new(class, rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::matrix::samples::any_unit;

    fn what(kind: UnitKind, path: &str, name: &str) -> What {
        Unit::named(kind, path, name).what
    }

    #[test]
    fn names_say_what_units_are_about() {
        use UnitKind::{Binding, Class, Config, Dist, Env, File, Member, Method, Runtime};
        let of = |class, rest| InClass::new(class, rest);
        let note = |note, of: &str| What::Note(note, of.into());
        for (kind, path, name, wanted) in [
            (File, "a", "untracked", What::UntrackedFile),
            (File, "a", "odd", What::Other("file odd".into())),
            (Binding, "a", "n?", What::Presence("n".into())),
            (Binding, "a", "f.->", note(Note::FunctionAnnotations, "f")),
            (Binding, "a", "C.m.''", note(Note::FunctionDocstring, "C.m")),
            (Binding, "a", "''", note(Note::FunctionDocstring, "")),
            (Binding, "a", "C.m", What::Binding("C.m".into())),
            (Class, "c", "*testng", What::Classes(Classes::ForOthers)),
            (Class, "", "<of these sources>", What::OfSources),
            (Dist, "", "[pytest11]", What::Plugins),
            (Runtime, "", "start-up", What::StartUp),
            (Env, "", "*", What::AllEnv),
            (Config, "", "args", What::Options),
            (Config, "pom.xml", "pom", What::KeptConfig([].into())),
            (Config, ".", "pytest", What::RunnerConfig("pytest".into())),
            (
                Method,
                "c",
                "A#<init>()V",
                What::Method(of("A", "<init>()V")),
            ),
            (Member, "c", "A#x:I", What::Member(of("A", "x:I"))),
            (
                Member,
                "c",
                "A~f()V g()V",
                What::Overrides(of("A", "f()V g()V")),
            ),
            (Member, "c", "A>A$B", What::Nest(of("A", "A$B"))),
            (Member, "c", "A", What::Other("member A".into())),
        ] {
            assert_eq!(what(kind, path, name), wanted, "{name}");
        }
    }

    proptest! {
        /// What tamis writes has a name that says it.
        #[test]
        fn names_come_back(unit in any_unit()) {
            let read = Unit::named(unit.kind(), unit.path.clone(), &unit.name());
            prop_assert_eq!(read, unit);
        }

        /// No two names of a kind give one unit.
        #[test]
        fn names_are_told_apart(
            kind in 0..UnitKind::ALL.len(),
            path in "a?",
            names in proptest::collection::vec("[ab.#~>?'\\->:*]{0,4}|pom b a|pom a b|args", 2),
        ) {
            let unit = |name: &String| Unit::named(UnitKind::ALL[kind], path.as_str(), name);
            prop_assert_eq!(unit(&names[0]) == unit(&names[1]), names[0] == names[1]);
        }
    }
}
