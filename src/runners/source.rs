//! Where the source of a test is, as its id tells.

use super::{maven, pytest};

/// The place of a test's source, relative to the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source<'t> {
    /// A function of a file, with dots: `C.test_d`.
    Function { file: &'t str, name: String },
    /// A class of a module's folder, with slashes: `demo/CalcTest`.
    Class { module: &'t str, name: String },
}

/// The file and the qualified name of the function that a test id names.
pub(crate) fn function_of(test: &str) -> (&str, String) {
    pytest::source_of(test)
}

/// What a division among machines keeps in one part: a file, or else the test itself.
pub(crate) fn file_of(test: &str) -> &str {
    function_of(test).0
}

pub(super) fn locate(test: &str, is_compiled: bool) -> Source<'_> {
    match is_compiled {
        true => {
            let (module, name) = maven::source_of(test);
            Source::Class { module, name }
        }
        false => {
            let (file, name) = function_of(test);
            Source::Function { file, name }
        }
    }
}
