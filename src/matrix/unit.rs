//! What a test can depend on, and the digest of one such thing at a revision.

use std::fmt;

use bstr::{BStr, BString, ByteSlice};
use serde::{Deserialize, Serialize};

/// The kind of a unit (a dependent element, [G 3.1]).
///
/// The order is part of matrix format 1: new kinds are appended, none is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum UnitKind {
    /// The content and mode of a file that was read or executed; `name` is
    /// empty, `untracked` if git does not hold the file, or `audit`, see
    /// [`Unit::audited`].
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
    /// One function or method body, normalised; `name` is the qualified name.
    Code = 4,
    /// Everything of a source file outside function bodies.
    Skeleton = 5,
    /// What one top-level name is bound to; `name` with a `?` at its end:
    /// whether it is bound, see [`Unit::presence`]; with `->` or `:`: what its
    /// annotations are, where they are text; with `''` or `""`: its docstring.
    Binding = 6,
    /// The statements of a module that do more than bind a name.
    Effects = 7,
    /// A JVM class file; `path` is its origin, `name` its binary name. See also
    /// [`Unit::of_build`].
    Class = 8,
    /// An installed third-party package; `name` is the distribution.
    Dist = 9,
    /// Interpreter, operating system and architecture.
    Runtime = 10,
    /// An environment variable that was read; `name` is the variable.
    Env = 11,
    /// The runner's own configuration: the part of file `path` that the
    /// runner `name` reads, or its command-line options where `path` is empty.
    Config = 12,
    /// What one method of a class file does, with its access flags; `path` is the
    /// class's origin, `name` the class, `#`, the method's name and descriptor.
    Method = 13,
    /// What a class file says of its class besides members: what it extends and
    /// implements, its flags. Origin and class, as for [`UnitKind::Class`].
    Shape = 14,
    /// What looking for a member of a class finds there: `demo/A#f(I)V`,
    /// `demo/A#x:I`; `demo/A~…`: which methods of supertypes that are not the
    /// project's it overrides; `demo/A>demo/A$B`: whether that is of its nest.
    Member = 15,
}

impl UnitKind {
    /// Every kind, in the order of the wire format.
    pub const ALL: [UnitKind; 16] = [
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
    ];

    /// The kind with this number in the wire format.
    pub fn from_u8(number: u8) -> Option<UnitKind> {
        UnitKind::ALL.get(usize::from(number)).copied()
    }

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
        }
    }

    /// Whether it is about a class file, or a part of one.
    pub fn is_compiled(self) -> bool {
        matches!(
            self,
            UnitKind::Class | UnitKind::Method | UnitKind::Shape | UnitKind::Member
        )
    }
}

/// One thing whose change could change a test's outcome.
///
/// `path` is relative to the top of the work tree, with `/` between its parts,
/// or absolute for a file outside it; it is bytes because git's paths are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Unit {
    pub kind: UnitKind,
    pub path: BString,
    pub name: String,
}

/// The name of a `file` unit that an audit added to a row.
pub(super) const AUDITED: &str = "audit";

/// The name of an `exists` unit that says of a path that the test wrote there.
const WRITTEN: &str = "written";

/// No name of a class.
const BUILT: &str = "<of these sources>";
const BUILT_NOT: &str = "<not only of these sources> ";

impl Unit {
    pub fn new(kind: UnitKind, path: impl Into<BString>, name: impl Into<String>) -> Unit {
        Unit {
            kind,
            path: path.into(),
            name: name.into(),
        }
    }

    /// Whether a module binds a top-level name at all, and between which of its
    /// effects: what an import statement that asks for it can notice.
    pub fn presence(path: impl Into<BString>, name: &str) -> Unit {
        Unit::new(UnitKind::Binding, path, format!("{name}?"))
    }

    /// The name that a [`Unit::presence`] is about.
    pub fn is_presence_of(&self) -> Option<&str> {
        match self.kind {
            UnitKind::Binding => self.name.strip_suffix('?'),
            _ => None,
        }
    }

    /// The content of a file, in the row of a test that an audit found to
    /// depend on more than was seen.
    pub fn audited(path: impl Into<BString>) -> Unit {
        Unit::new(UnitKind::File, path, AUDITED)
    }

    pub fn is_audited(&self) -> bool {
        self.kind == UnitKind::File && self.name == AUDITED
    }

    /// Says of a test that it wrote, made or removed something at a path. It never
    /// changes: by it, other tests find out where what they read may come from.
    pub fn written(path: impl Into<BString>) -> Unit {
        Unit::new(UnitKind::Exists, path, WRITTEN)
    }

    pub fn is_written(&self) -> bool {
        self.kind == UnitKind::Exists && self.name == WRITTEN
    }

    /// Says of a matrix of class files whether they are what compiling the sources
    /// makes, and nothing else had a part in it; else why not. It is in the row of
    /// what tests there are, and always has the value *missing*.
    pub fn of_build(why_not: Option<&str>) -> Unit {
        let name = match why_not {
            None => BUILT.to_owned(),
            Some(why) => format!("{BUILT_NOT}{why}"),
        };
        Unit::new(UnitKind::Class, "", name)
    }

    /// What a unit made by [`Unit::of_build`] says.
    pub fn build(&self) -> Option<Result<(), &str>> {
        if self.kind != UnitKind::Class || !self.path.is_empty() {
            return None;
        }
        match self.name.strip_prefix(BUILT_NOT) {
            Some(why) => Some(Err(why)),
            None => (self.name == BUILT).then_some(Ok(())),
        }
    }

    /// Whether the unit lies in a file outside the work tree.
    pub fn is_outside(&self) -> bool {
        self.path.first() == Some(&b'/')
    }

    pub fn path(&self) -> &BStr {
        self.path.as_bstr()
    }

    /// Of a unit that is about a class file: the class, with slashes, and what
    /// follows its name.
    pub fn in_class(&self) -> (&str, &str) {
        let end = match self.kind {
            UnitKind::Method | UnitKind::Member => self.name.find(['#', '~', '>']),
            _ => None,
        };
        self.name.split_at(end.unwrap_or(self.name.len()))
    }
}

impl fmt::Display for Unit {
    /// `code src/a.py#C.m`, `env HOME`, `file data/x.json`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.word())?;
        if !self.path.is_empty() {
            write!(f, " {}", self.path)?;
        }
        match (
            self.name.is_empty() || self.is_audited(),
            self.path.is_empty(),
        ) {
            (true, _) => Ok(()),
            (false, true) => write!(f, " {}", self.name),
            (false, false) => match (self.kind, self.in_class()) {
                (UnitKind::Method | UnitKind::Member, (class, more)) => {
                    // What a class could override is long.
                    let more = match more.strip_prefix('~') {
                        Some(_) => "~",
                        None => more,
                    };
                    write!(f, "#{class}{}", more.replace('#', "."))
                }
                // What a pom keeps is for tamis alone.
                (UnitKind::Config, _) if self.path.ends_with(b".xml") => Ok(()),
                _ => write!(f, "#{}", self.name),
            },
        }
    }
}

/// A digest of a unit's content at a revision, 16 bytes.
///
/// For `file`, `env`, `dist` and `runtime` units it is made from a git blob id
/// (SHA-1 over `blob LEN\0CONTENT`), so that it is free from a tree and a
/// collector in any language can compute it; for parsed source it is BLAKE3.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub [u8; 16]);

/// How a path is stored, as far as it can matter to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Mode {
    Regular = b'r',
    Executable = b'x',
    Symlink = b'l',
    /// A submodule: the blob id is the commit it points to.
    Gitlink = b's',
}

impl Fingerprint {
    /// The value of a unit that does not exist.
    pub const MISSING: Fingerprint = Fingerprint([0; 16]);

    /// The fingerprint of content stored under a git object id: its first
    /// 15 bytes and the mode.
    pub fn of_blob(oid: &[u8], mode: Mode) -> Fingerprint {
        let mut bytes = [0; 16];
        let len = oid.len().min(15);
        bytes[..len].copy_from_slice(&oid[..len]);
        bytes[15] = mode as u8;
        Fingerprint(bytes)
    }

    /// The fingerprint of a value that no tree holds (an environment
    /// variable, a package version): that of a regular blob with this content.
    pub fn of_value(content: &[u8]) -> Fingerprint {
        let oid = git_blob_id(content);
        Fingerprint::of_blob(&oid, Mode::Regular)
    }

    /// A BLAKE3 digest, domain-separated by `domain`, cut to 16 bytes.
    pub fn of_digest(domain: &str, content: &[u8]) -> Fingerprint {
        let mut hasher = blake3::Hasher::new_derive_key(domain);
        hasher.update(content);
        Fingerprint::of_hasher(&hasher)
    }

    /// The first 16 bytes of what `hasher` has seen.
    pub fn of_hasher(hasher: &blake3::Hasher) -> Fingerprint {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Fingerprint(bytes)
    }

    pub fn hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The inverse of [`Fingerprint::hex`].
    pub fn from_hex(text: &str) -> Option<Fingerprint> {
        let mut bytes = [0; 16];
        if text.len() != 32 || !text.is_ascii() {
            return None;
        }
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * i..2 * i + 2], 16).ok()?;
        }
        Some(Fingerprint(bytes))
    }
}

/// The git blob id of `content`.
fn git_blob_id(content: &[u8]) -> [u8; 20] {
    crate::history::blob_id(content)
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex())
    }
}

impl fmt::Display for Fingerprint {
    /// The first eight hex digits: enough for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex()[..8])
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.hex())
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Fingerprint::from_hex(&text)
            .ok_or_else(|| serde::de::Error::custom("a fingerprint is 32 hex digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_kinds_are_inverse() {
        for kind in UnitKind::ALL {
            assert_eq!(UnitKind::from_u8(kind as u8), Some(kind));
        }
        assert_eq!(UnitKind::from_u8(UnitKind::ALL.len() as u8), None);
    }

    #[test]
    fn hex_round_trips_and_refuses_other_text() {
        let print = Fingerprint::of_value(b"hello");
        assert_eq!(Fingerprint::from_hex(&print.hex()), Some(print));
        assert_eq!(Fingerprint::from_hex("xyz"), None);
        assert_eq!(Fingerprint::from_hex(&"é".repeat(16)), None);
    }

    #[test]
    fn value_is_the_blob_id_that_git_computes() {
        // `printf hello | git hash-object --stdin`
        assert_eq!(
            Fingerprint::of_value(b"hello").hex(),
            "b6fc4c620b67d95f953a5c1c1230aa72"
        );
    }
}
