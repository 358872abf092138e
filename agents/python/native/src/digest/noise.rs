//! What the import system and frameworks put on modules, classes, functions
//! and instances: no state of the project.

use crate::ffi::version;

/// How the attributes of an instance are chosen.
#[derive(Clone, Copy, PartialEq)]
pub enum Filter {
    All,
    /// `pathlib`: the parts; what it computes from them when asked for is not.
    Path,
    /// `logging.Logger`: parents and handlers by reference, no caches.
    Logger,
    /// What names of temporary files are made of, another one in each process.
    Random,
    /// Of `pandas`: without what it remembers of its values.
    Index,
}

pub enum Taken {
    Whole,
    /// A logger, by its name.
    Named,
    /// The types of a list's items.
    Types,
    Not,
}

/// Globals of a module: where it came from, and once-only warnings.
pub fn is_global(name: &[u8]) -> bool {
    matches!(
        name,
        b"__builtins__"
            | b"__cached__"
            | b"__file__"
            | b"__loader__"
            | b"__path__"
            | b"__spec__"
            | b"__warningregistry__"
            | b"__pytest_setup_module"
            | b"__pytest_setup_function"
    ) || is_of_test_framework(name)
}

/// Members of a class: made by the interpreter, caches, first lines.
pub fn is_member(name: &[u8]) -> bool {
    matches!(
        name,
        b"__dict__"
            | b"__weakref__"
            | b"__slotnames__"
            | b"__firstlineno__"
            | b"__static_attributes__"
            | b"__annotations_cache__"
            | b"tearDown_exceptions"
            | b"_classSetupFailed"
    ) || is_of_test_framework(name)
}

/// The attribute of a function in which pytest keeps the marks of a test.
pub const MARKS: &[u8] = b"pytestmark";

/// Attributes of functions.
pub fn is_of_function(name: &[u8]) -> bool {
    is_of_test_framework(name)
}

fn is_of_test_framework(name: &[u8]) -> bool {
    name.starts_with(b"__pytest_")
        || name.starts_with(b"_xunit_setup_")
        || name.starts_with(b"_unittest_setUp")
        || name.starts_with(b"_UnitTestCase__pytest_")
}

impl Filter {
    pub fn takes(self, name: &[u8]) -> Taken {
        match (self, name) {
            // From 3.12 on the rest is computed from these when it is asked for.
            (Filter::Path, b"_raw_paths") => Taken::Whole,
            (Filter::Path, b"_drv" | b"_root" | b"_parts") if version().1 < 12 => Taken::Whole,
            (
                Filter::Path,
                b"_drv"
                | b"_root"
                | b"_parts"
                | b"_str"
                | b"_hash"
                | b"_pparts"
                | b"_cached_cparts"
                | b"_accessor"
                | b"_closed"
                | b"_tail_cached"
                | b"_str_normcase_cached"
                | b"_parts_normcase_cached"
                | b"_lines_cached"
                | b"_info",
            ) => Taken::Not,
            (Filter::Random, _) => Taken::Not,
            (Filter::Index, b"_cache" | b"_id" | b"_references") => Taken::Not,
            (Filter::Logger, b"_cache" | b"manager") => Taken::Not,
            (Filter::Logger, b"parent") => Taken::Named,
            (Filter::Logger, b"handlers") => Taken::Types,
            _ => Taken::Whole,
        }
    }
}
