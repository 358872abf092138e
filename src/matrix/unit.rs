//! What a test can depend on.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use bstr::{BStr, BString, ByteSlice};

use super::what::{InClass, What};

/// The kind of a unit (a dependent element, [G 3.1]), as reports name it. It
/// follows from what the unit is about, see [`What`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum UnitKind {
    /// The content and mode of a file that was read or executed.
    File = 0,
    /// Whether a path exists, and as what: missing, file or directory.
    /// The design's `absent` unit is the value *missing* of this kind.
    Exists = 1,
    /// Which importable candidates of one name (`dir/stem.py`, `dir/stem/`,
    /// `dir/stem.*.so`, …) a directory holds; changes when a new file shadows
    /// an import or an optional import appears.
    Lookup = 2,
    /// The names, and kinds of entry, in a listed directory.
    Dir = 3,
    /// One function or method body, normalised.
    Code = 4,
    /// Everything of a source file outside function bodies.
    Skeleton = 5,
    /// What one top-level name is bound to, whether it is bound, or what can be
    /// read of it.
    Binding = 6,
    /// The statements of a module that do more than bind a name.
    Effects = 7,
    /// A JVM class file; the path is its origin.
    Class = 8,
    /// An installed third-party package.
    Dist = 9,
    /// Interpreter, operating system and architecture.
    Runtime = 10,
    /// An environment variable that was read.
    Env = 11,
    /// The runner's own configuration.
    Config = 12,
    /// What one method of a class file does, with its access flags.
    Method = 13,
    /// What a class file says of its class besides members: what it extends and
    /// implements, its flags.
    Shape = 14,
    /// What looking for a member of a class finds there.
    Member = 15,
    /// Nothing that this version knows.
    Other = 16,
    /// What code that no source shows can read.
    Reached = 17,
    /// A line of a source file that a program showed.
    Line = 18,
    /// The names in a listed folder of the work tree, also those that git ignores.
    Listing = 19,
}

impl UnitKind {
    /// Every kind, in the order of their units in a matrix.
    pub const ALL: [UnitKind; 20] = [
        UnitKind::File,
        UnitKind::Exists,
        UnitKind::Lookup,
        UnitKind::Dir,
        UnitKind::Code,
        UnitKind::Skeleton,
        UnitKind::Binding,
        UnitKind::Effects,
        UnitKind::Class,
        UnitKind::Dist,
        UnitKind::Runtime,
        UnitKind::Env,
        UnitKind::Config,
        UnitKind::Method,
        UnitKind::Shape,
        UnitKind::Member,
        UnitKind::Other,
        UnitKind::Reached,
        UnitKind::Line,
        UnitKind::Listing,
    ];

    /// The word used in reports and JSON.
    pub fn word(self) -> &'static str {
        match self {
            UnitKind::File => "file",
            UnitKind::Exists => "exists",
            UnitKind::Lookup => "lookup",
            UnitKind::Dir => "dir",
            UnitKind::Code => "code",
            UnitKind::Skeleton => "skeleton",
            UnitKind::Binding => "binding",
            UnitKind::Effects => "effects",
            UnitKind::Class => "class",
            UnitKind::Dist => "dist",
            UnitKind::Runtime => "runtime",
            UnitKind::Env => "env",
            UnitKind::Config => "config",
            UnitKind::Method => "method",
            UnitKind::Shape => "shape",
            UnitKind::Member => "member",
            UnitKind::Other => "other",
            UnitKind::Reached => "reached",
            UnitKind::Line => "line",
            UnitKind::Listing => "listing",
        }
    }

    /// Whether it is about a class file, or a part of one.
    pub fn is_compiled(self) -> bool {
        matches!(
            self,
            UnitKind::Class | UnitKind::Method | UnitKind::Shape | UnitKind::Member
        )
    }

    /// Whether it is about a source file, or a part of one.
    pub fn is_source(self) -> bool {
        matches!(
            self,
            UnitKind::Code | UnitKind::Skeleton | UnitKind::Binding | UnitKind::Effects
        )
    }
}

/// One thing whose change could change a test's outcome.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unit {
    /// Relative to the top of the work tree, with `/` between its parts, or
    /// absolute for a file outside it; empty where no file is meant. It is bytes
    /// because git's paths are.
    pub path: BString,
    pub what: What,
}

impl Unit {
    /// Something of the file or folder at `path`.
    pub fn at(path: impl Into<BString>, what: What) -> Unit {
        Unit {
            path: path.into(),
            what,
        }
    }

    /// Something that no path tells.
    pub fn of(what: What) -> Unit {
        Unit::at("", what)
    }

    pub fn kind(&self) -> UnitKind {
        self.what.kind()
    }

    pub fn path(&self) -> &BStr {
        self.path.as_bstr()
    }

    /// Whether the unit lies in a file outside the work tree.
    pub fn is_outside(&self) -> bool {
        self.path.first() == Some(&b'/')
    }

    /// Of a unit that is about one class: its name, with slashes.
    pub fn class(&self) -> Option<&str> {
        match &self.what {
            What::Class(class) | What::Shape(class) => Some(class),
            What::Method(of) | What::Member(of) | What::Overrides(of) | What::Nest(of) => {
                Some(of.class())
            }
            _ => None,
        }
    }

    /// Whether it is the body of the function with this qualified name.
    pub fn is_code(&self, name: &str) -> bool {
        matches!(&self.what, What::Code(own) if **own == *name)
    }

    /// Whether it only notes that the test wrote at the path.
    pub fn is_written(&self) -> bool {
        self.what == What::Written
    }

    /// Whether it only tells of the build that made the class files.
    pub fn is_of_build(&self) -> bool {
        matches!(self.what, What::OfSources | What::NotOfSources(_))
    }
}

impl PartialOrd for Unit {
    fn partial_cmp(&self, other: &Unit) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Unit {
    /// The order of units in a matrix, in memory and stored: by what they are
    /// about, by path, and by what of it.
    fn cmp(&self, other: &Unit) -> Ordering {
        let tags = self.what.tag().cmp(&other.what.tag());
        tags.then_with(|| self.path.cmp(&other.path))
            .then_with(|| self.what.text().cmp(&other.what.text()))
    }
}

impl fmt::Display for Unit {
    /// `code src/a.py#C.m`, `env HOME`, `file data/x.json`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind().word())?;
        if !self.path.is_empty() {
            write!(f, " {}", self.path)?;
        }
        let name = match &self.what {
            What::AuditedFile => Cow::Borrowed(""),
            // What a pom keeps is for tamis alone.
            What::KeptConfig(_) => Cow::Borrowed(""),
            // What a class could override is long.
            What::Overrides(of) => Cow::Owned(format!("{}~", of.class())),
            What::Method(of) | What::Member(of) => Cow::Owned(dotted(of)),
            _ => self.name(),
        };
        match (name.is_empty(), self.path.is_empty()) {
            (true, _) => Ok(()),
            (false, true) => write!(f, " {name}"),
            (false, false) => write!(f, "#{name}"),
        }
    }
}

fn dotted(of: &InClass) -> String {
    format!("{}.{}", of.class(), of.rest())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_numbered_in_their_order() {
        for (number, kind) in UnitKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
        }
    }

    #[test]
    fn people_are_told_what_a_unit_is_about() {
        let of = |rest| InClass::new("demo/A", rest);
        let at = |path: &str, what| Unit::at(path, what).to_string();
        let told = [
            at("src/a.py", What::Code("C.m".into())),
            at("src/a.py", What::Presence("n".into())),
            at("data.json", What::AuditedFile),
            at("data.json", What::UntrackedFile),
            at("", What::Env("HOME".into())),
            at("pom.xml", What::KeptConfig(["name".into()].into())),
            at("classes", What::Method(of("f(I)V"))),
            at("classes", What::Overrides(of("f()V g()V"))),
            at("classes", What::Nest(of("demo/A$B"))),
        ];
        insta::assert_snapshot!(told.join("\n"), @r"
        code src/a.py#C.m
        binding src/a.py#n?
        file data.json
        file data.json#untracked
        env HOME
        config pom.xml
        method classes#demo/A.f(I)V
        member classes#demo/A~
        member classes#demo/A>demo/A$B
        ");
    }
}
