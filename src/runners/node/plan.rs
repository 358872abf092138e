//! What of the plan of a run only Node's tests have.

use std::ffi::OsString;
use std::path::Path;

use crate::matrix::Fingerprint;
use crate::runners::supervised::Supervised;
use crate::tracer::Test;

/// What stands for all tests of a command, where it is told what the command is.
const TESTS: &str = "tests in Node";

/// The name under which the command is stored that runs the tests, and its value.
pub(super) fn definition(words: &[OsString], cwd: &Path, root: &Path) -> (String, Fingerprint) {
    Test::new(TESTS, words, cwd, None).definition(root)
}

/// The id of a test file.
pub(super) fn id(plan: &Supervised, file: &str) -> String {
    let file = Path::new(file);
    let inside = file.strip_prefix(&plan.project).unwrap_or(file);
    inside.display().to_string()
}
