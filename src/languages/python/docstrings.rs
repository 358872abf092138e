//! By which names code gets at docstrings.

use super::dynamic::{lists_what_there_is, words};

/// Names by which code gets at docstrings, of whatever it be; constants of code
/// objects have them, too.
pub(super) fn reads_docstrings(name: &str) -> bool {
    DOCSTRINGS_IN_TEXT.contains(&name) || lists_what_there_is(name) || DOCSTRINGS.contains(&name)
}

/// The attribute for docstrings. Who asks an object for it the collector tells.
pub(super) const DOC: &str = "__doc__";

/// Stands among the names that code asks for if it has that one otherwise than after a dot, too.
pub(super) const DOC_OTHERWISE: &str = "'__doc__'";

pub(super) const DOCSTRINGS: [&str; 5] = [
    "getdoc",
    "shortDescription",
    "marshal",
    "dis",
    "DocXMLRPCServer",
];

/// Whether an installed package's source or extension module names what reads
/// docstrings, or constants of code.
pub(in crate::languages) fn names_docstrings_in(code: &[u8]) -> bool {
    let lines = || code.split(|byte| *byte == b'\n');
    let inspects = lines().any(|line| words(line).any(|word| word == b"inspect"));
    let imports = |line: &[u8]| {
        [&b"import "[..], b"from "]
            .iter()
            .any(|start| line.trim_ascii_start().starts_with(start))
    };
    let marshals = |line| imports(line) && words(line).any(|word| word == b"marshal");
    lines().any(marshals)
        || lines().flat_map(words).any(|word| match word {
            b"getdoc" | b"getmembers" | b"getmembers_static" | b"classify_class_attrs" => inspects,
            b"co_consts" | b"render_doc" | b"shortDescription" => true,
            // Of these mostly something else is asked.
            b"__code__" => false,
            word => std::str::from_utf8(word).is_ok_and(|word| DOCSTRINGS_IN_TEXT.contains(&word)),
        })
}

/// The same as `READERS_IN_TEXT` for docstrings.
pub(super) const DOCSTRINGS_IN_TEXT: [&str; 5] = [
    "__doc__",
    "_testMethodDoc",
    "__code__",
    "co_consts",
    "WRAPPER_ASSIGNMENTS",
];
