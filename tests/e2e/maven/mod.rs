//! Maven projects: after each edit, the test classes that it can affect run.

mod around;
mod before_build;
mod debug_info;
mod edits;
mod ekstazi;
mod first_minutes;
mod frameworks;
pub mod harness;
mod junit3;
mod kinds;
mod methods;
mod once;
mod packaged;
mod platform;
mod poms;
mod testng;
