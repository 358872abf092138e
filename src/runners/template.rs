//! What of the `tamis.yml` that `init` writes differs from runner to runner.

/// The examples of a file, as they stand behind their keys.
#[derive(Clone, Copy)]
pub struct Examples {
    pub command: &'static str,
    /// An interpreter, where tests have one.
    pub python: Option<&'static str>,
    pub paths: &'static str,
    pub suites: &'static str,
    pub label: &'static str,
    pub always_run: &'static str,
    pub run_all_when: &'static str,
    pub keep_together: &'static str,
    /// The lines of keys that only this runner's tests have; given the lock files that
    /// were found.
    pub own: fn(&[&str]) -> String,
}
