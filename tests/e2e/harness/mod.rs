//! The common parts of the end-to-end tests: interpreters, small projects in git, and the
//! check of one edit.

mod action;
mod case;
mod change;
mod edits;
mod expect;
mod github;
mod java;
mod plain;
mod project;
mod python;
mod text;
mod workshop;

pub use action::steps;
pub use case::{Case, everything, on_all_interpreters, one_in, with_plugins};
pub(crate) use case::{case, cases};
pub use change::{
    Change, append, delete, env, install, python, rename, replace, symlink, uninstall, unset, write,
};
pub use edits::{Edit, Edited, Row};
pub use expect::{ALL, Expect, NONE, all_but, at_least, between};
pub use github::{on_github, outputs};
pub use java::has_programs;
pub use project::{Finished, Outcomes, Project, Run, TWO_MODULES, files_below};
pub use python::{Python, Wanted, skip};
pub use text::files;
pub use workshop::{Endings, Workshop, folder_of, told};
