//! What the end-to-end tests share: interpreters, small projects in git, and
//! the rule that checks one edit.

mod case;
mod change;
mod project;
mod python;
mod text;

pub(crate) use case::cases;
pub use case::{ALL, Case, Expect, NONE, between, on_all_interpreters};
pub use change::{
    Change, append, delete, env, executable, git, install, python, rename, replace, symlink,
    uninstall, unset, write,
};
pub use project::{Outcomes, Project, Run, Selection};
pub use python::{Python, Wanted};
