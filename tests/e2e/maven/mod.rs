//! Maven projects: after each edit the affected test classes run.

mod around;
mod before_build;
mod debug_info;
mod discovery;
mod edits;
mod ekstazi;
mod files;
mod first_minutes;
mod frameworks;
mod handed_on;
pub mod harness;
mod junit3;
mod kinds;
mod methods;
mod once;
mod orders;
mod packaged;
mod platform;
mod poms;
mod statics;
mod testng;
