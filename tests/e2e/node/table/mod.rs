//! Edits, and the test files that run after each. The truth is what vitest finds.

mod of_files;
mod of_sources;
mod of_tests;

use crate::harness::{Edited, Row, one_in};

use super::harness::{package, versions, vitest};
use super::project::{ALL, PACKAGE};

/// Makes each edit on its own. `.ci/all` makes all of them, with each version of vitest; other
/// runs every twelfth one.
fn check(rows: &[Row]) {
    for version in versions() {
        let edited = Edited {
            shop: package(PACKAGE, version),
            kept: &["node_modules"],
            groups: &[("all", &ALL)],
            // Others read more: their own sources name more variables, for example.
            is_exact: version == &versions()[0],
            plain: vitest,
        };
        edited.check(rows.iter().step_by(one_in(12)));
    }
}
