//! What a unit is about, beside its path: one variant for each way in which
//! something can change a test's outcome.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::UnitKind;

type Text = Box<str>;

/// What a unit is about. [`What::tag`] numbers the variants as matrix format 3
/// does: those of one [`UnitKind`] are neighbours.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// The content and mode of a file.
    File,
    /// The same of a file that git does not track. It was generated, so only the
    /// machine that generates it can tell its value.
    UntrackedFile,
    /// The same in the row of a test that an audit found to depend on more than
    /// was seen.
    AuditedFile,
    /// Whether a path exists, and as what.
    Exists,
    /// The same where git does not track what is there.
    UntrackedExists,
    /// That the test wrote, made or removed something at the path. It never
    /// changes: by it, other tests find out where what they read may come from.
    Written,
    /// The importable candidates of a name in a folder.
    Lookup,
    /// The entries of a folder.
    Dir,
    /// The names in a folder of the work tree, also those that git ignores.
    Listing,
    /// The body of the function with this qualified name.
    Code(Text),
    /// Everything outside function bodies.
    Skeleton,
    /// What this name of the top level is bound to.
    Binding(Text),
    /// Whether the name is bound at all, and between which of its module's
    /// effects: what an import statement that asks for it can notice.
    Presence(Text),
    /// What can be read of something without running it. The name is that of a
    /// function, method or class, or empty for all functions in effects.
    Note(Note, Text),
    /// The statements that do more than bind a name.
    Effects,
    /// The class file of this class.
    Class(Text),
    /// All classes of a folder, or what can be told of them together.
    Classes(Classes),
    /// That the class files of the matrix are what compiling the sources makes,
    /// and nothing else had a part in it. It is in the row of what tests there
    /// are, and its value is always *missing*.
    OfSources,
    /// The opposite, for this reason.
    NotOfSources(Text),
    /// An installed package.
    Dist(Text),
    /// Which installed packages are plug-ins of the runner.
    Plugins,
    /// The interpreter or virtual machine of this name.
    Runtime(Text),
    /// How it was started: flags, warnings, encodings.
    StartUp,
    /// An environment variable.
    Env(Text),
    /// All of the environment.
    AllEnv,
    /// The options of the runner, as it understood them.
    Options,
    /// Where the runner looked for tests. Always *missing*: what it is made of
    /// (options, configuration, plug-ins) its row has as well.
    Finds(Box<Finds>),
    /// What this runner reads of the configuration in a folder.
    RunnerConfig(Text),
    /// A configuration file without what has no part in a test, which keeps the
    /// elements and properties of these names.
    KeptConfig(Box<[String]>),
    /// What a method does, by name and descriptor: `f(I)V`.
    Method(InClass),
    /// What a class file says of its class besides members.
    Shape(Text),
    /// What looking for a member finds in the class: `f(I)V`, `x:I`.
    Member(InClass),
    /// Which of these methods of foreign supertypes the class overrides:
    /// separated by spaces, or `*` for any.
    Overrides(InClass),
    /// Whether a class is of the nest that this class is the host of.
    Nest(InClass),
    /// A name that a test reached without any source that spells it: generated code spells
    /// it. With a path it was asked of that module, and `*` is all of it. It never changes:
    /// it tells what the test's code can read.
    Reached(Text),
    /// The text of the line of this number, which a program showed: in a traceback, say.
    Line(Text),
    /// A unit that no version of tamis is known to write. Nobody can tell its
    /// value, so the tests that have it run.
    Other(Text),
}

/// What can be read of a function or a class without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Note {
    /// Annotations of arguments and result, where they are text that nobody
    /// evaluates.
    FunctionAnnotations,
    /// Those of a class's members.
    MemberAnnotations,
    FunctionDocstring,
    /// With what of its methods is not apart.
    ClassDocstring,
}

impl Note {
    pub const ALL: [Note; 4] = [
        Note::FunctionAnnotations,
        Note::MemberAnnotations,
        Note::FunctionDocstring,
        Note::ClassDocstring,
    ];

    pub fn is_docstring(self) -> bool {
        matches!(self, Note::FunctionDocstring | Note::ClassDocstring)
    }
}

/// What is told of the classes of a folder together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Classes {
    /// Every class.
    All,
    /// What they do for tests of other classes.
    ForOthers,
    /// What a suite may find to be a test.
    MayBeTests,
}

impl Classes {
    pub const ALL: [Classes; 3] = [Classes::All, Classes::ForOthers, Classes::MayBeTests];
}

/// Something of a class, whose name has slashes: `demo/A` and `f(I)V`.
///
/// One text holds both. No class of the JVM has a dot in its name, so the first
/// dot parts them.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct InClass {
    text: Text,
    class: u32,
}

impl InClass {
    pub fn new(class: &str, rest: &str) -> InClass {
        let mut text = String::with_capacity(class.len() + 1 + rest.len());
        match class.contains('.') {
            true => text.push_str(&class.replace('.', "/")),
            false => text.push_str(class),
        }
        text.push('.');
        text.push_str(rest);
        InClass {
            text: text.into(),
            class: class.len() as u32,
        }
    }

    fn of_text(text: &str) -> Option<InClass> {
        let class = text.find('.')? as u32;
        Some(InClass {
            text: text.into(),
            class,
        })
    }

    pub fn class(&self) -> &str {
        &self.text[..self.class as usize]
    }

    pub fn rest(&self) -> &str {
        &self.text[self.class as usize + 1..]
    }
}

impl fmt::Debug for InClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What a runner went by when it looked for tests.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Finds {
    /// Patterns for the names of files with tests.
    pub names: Vec<String>,
    /// The files and folders where it begins, relative to the top of the work tree;
    /// `None`: anywhere.
    #[serde(rename = "in")]
    pub places: Option<Vec<String>>,
    /// Plug-ins that may take any file for one with tests.
    pub others: Vec<String>,
}

/// The number of a variant of [`What`] in matrix format 3.
pub(super) type Tag = u8;

/// How many numbers there are.
pub(super) const TAGS: usize = 42;

/// The first number of each kind, and after the last one [`TAGS`].
const FIRST: [Tag; UnitKind::ALL.len() + 1] = [
    0, 3, 6, 7, 8, 9, 10, 16, 17, 23, 25, 27, 29, 33, 34, 35, 38, 39, 40, 41, 42,
];

impl What {
    pub(super) const UNTRACKED_FILE: Tag = 1;
    pub(super) const AUDITED_FILE: Tag = 2;
    pub(super) const UNTRACKED_EXISTS: Tag = 4;
    pub(super) const LISTING: Tag = 41;

    pub(super) fn tag(&self) -> Tag {
        match self {
            What::File => 0,
            What::UntrackedFile => What::UNTRACKED_FILE,
            What::AuditedFile => What::AUDITED_FILE,
            What::Exists => 3,
            What::UntrackedExists => What::UNTRACKED_EXISTS,
            What::Written => 5,
            What::Lookup => 6,
            What::Dir => 7,
            What::Code(_) => 8,
            What::Skeleton => 9,
            What::Binding(_) => 10,
            What::Presence(_) => 11,
            What::Note(note, _) => 12 + *note as Tag,
            What::Effects => 16,
            What::Class(_) => 17,
            What::Classes(classes) => 18 + *classes as Tag,
            What::OfSources => 21,
            What::NotOfSources(_) => 22,
            What::Dist(_) => 23,
            What::Plugins => 24,
            What::Runtime(_) => 25,
            What::StartUp => 26,
            What::Env(_) => 27,
            What::AllEnv => 28,
            What::Options => 29,
            What::Finds(_) => 30,
            What::RunnerConfig(_) => 31,
            What::KeptConfig(_) => 32,
            What::Method(_) => 33,
            What::Shape(_) => 34,
            What::Member(_) => 35,
            What::Overrides(_) => 36,
            What::Nest(_) => 37,
            What::Other(_) => 38,
            What::Reached(_) => 39,
            What::Line(_) => 40,
            What::Listing => What::LISTING,
        }
    }

    pub fn kind(&self) -> UnitKind {
        kind_of(self.tag())
    }

    /// What the number does not tell: its text in matrix format 3.
    pub(super) fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(match self {
            What::Code(text)
            | What::Binding(text)
            | What::Presence(text)
            | What::Note(_, text)
            | What::Class(text)
            | What::NotOfSources(text)
            | What::Dist(text)
            | What::Runtime(text)
            | What::Env(text)
            | What::RunnerConfig(text)
            | What::Shape(text)
            | What::Other(text)
            | What::Reached(text)
            | What::Line(text) => text,
            What::Method(of) | What::Member(of) | What::Overrides(of) | What::Nest(of) => &of.text,
            What::Finds(finds) => return Cow::Owned(json(finds)),
            What::KeptConfig(kept) => return Cow::Owned(json(kept)),
            What::File
            | What::UntrackedFile
            | What::AuditedFile
            | What::Exists
            | What::UntrackedExists
            | What::Written
            | What::Lookup
            | What::Dir
            | What::Listing
            | What::Skeleton
            | What::Effects
            | What::Classes(_)
            | What::OfSources
            | What::Plugins
            | What::StartUp
            | What::AllEnv
            | What::Options => "",
        })
    }

    /// The inverse of [`What::tag`] and [`What::text`]; `None` if no variant has
    /// this number and this text.
    pub(super) fn read(tag: Tag, text: &str) -> Option<What> {
        let bare = match tag {
            0 => What::File,
            What::UNTRACKED_FILE => What::UntrackedFile,
            What::AUDITED_FILE => What::AuditedFile,
            3 => What::Exists,
            What::UNTRACKED_EXISTS => What::UntrackedExists,
            5 => What::Written,
            6 => What::Lookup,
            7 => What::Dir,
            8 => return Some(What::Code(text.into())),
            9 => What::Skeleton,
            10 => return Some(What::Binding(text.into())),
            11 => return Some(What::Presence(text.into())),
            12..=15 => {
                let note = Note::ALL[usize::from(tag - 12)];
                return Some(What::Note(note, text.into()));
            }
            16 => What::Effects,
            17 => return Some(What::Class(text.into())),
            18..=20 => What::Classes(Classes::ALL[usize::from(tag - 18)]),
            21 => What::OfSources,
            22 => return Some(What::NotOfSources(text.into())),
            23 => return Some(What::Dist(text.into())),
            24 => What::Plugins,
            25 => return Some(What::Runtime(text.into())),
            26 => What::StartUp,
            27 => return Some(What::Env(text.into())),
            28 => What::AllEnv,
            29 => What::Options,
            30 => return What::finds(text),
            31 => return Some(What::RunnerConfig(text.into())),
            32 => {
                let kept: Box<[String]> = serde_json::from_str(text).ok()?;
                return (json(&kept) == text).then_some(What::KeptConfig(kept));
            }
            33 => return InClass::of_text(text).map(What::Method),
            34 => return Some(What::Shape(text.into())),
            35 => return InClass::of_text(text).map(What::Member),
            36 => return InClass::of_text(text).map(What::Overrides),
            37 => return InClass::of_text(text).map(What::Nest),
            38 => return Some(What::Other(text.into())),
            39 => return Some(What::Reached(text.into())),
            40 => return Some(What::Line(text.into())),
            What::LISTING => What::Listing,
            _ => return None,
        };
        text.is_empty().then_some(bare)
    }

    /// Of JSON, in the one way in which it is written: other text must not give
    /// an equal unit.
    pub(super) fn finds(text: &str) -> Option<What> {
        let finds: Box<Finds> = serde_json::from_str(text).ok()?;
        (json(&finds) == text).then_some(What::Finds(finds))
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The kind of the units with this number.
pub(super) fn kind_of(tag: Tag) -> UnitKind {
    let after = FIRST.partition_point(|first| *first <= tag);
    UnitKind::ALL[after - 1]
}

/// Whether units of this number have a text.
pub(super) fn has_text(tag: Tag) -> bool {
    !matches!(tag, 0..=7 | 9 | 16 | 18..=21 | 24 | 26 | 28 | 29 | What::LISTING)
}

/// The numbers of a kind.
pub(super) fn tags_of(kind: UnitKind) -> std::ops::Range<usize> {
    usize::from(FIRST[kind as usize])..usize::from(FIRST[kind as usize + 1])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::matrix::samples::any_unit;

    #[test]
    fn every_number_is_of_one_kind() {
        assert_eq!(usize::from(FIRST[UnitKind::ALL.len()]), TAGS);
        for kind in UnitKind::ALL {
            assert!(tags_of(kind).all(|tag| kind_of(tag as Tag) == kind));
            assert!(!tags_of(kind).is_empty());
        }
    }

    #[test]
    fn what_has_no_name_takes_none() {
        assert_eq!(What::read(0, ""), Some(What::File));
        assert_eq!(What::read(0, "x"), None);
        assert_eq!(What::read(33, "demo/A"), None);
        assert_eq!(What::read(32, "[ ]"), None);
        assert_eq!(What::read(TAGS as Tag, ""), None);
    }

    proptest! {
        #[test]
        fn numbers_and_texts_say_all(unit in any_unit()) {
            let tag = unit.what.tag();
            prop_assert!(usize::from(tag) < TAGS);
            prop_assert!(has_text(tag) || unit.what.text().is_empty());
            prop_assert!(!has_text(tag) || What::read(tag, ":.:").is_some() != (tag == 30 || tag == 32));
            prop_assert_eq!(What::read(tag, &unit.what.text()), Some(unit.what));
        }
    }
}
