//! One finding of `tamis doctor`. Rooms contribute checks; only `cli::doctor` decides what
//! is printed and how the command ends.

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckState {
    Ok,
    /// tamis works, but less well: it will run more tests or run slower.
    Warn,
    /// tamis cannot work.
    Fail,
}

impl CheckState {
    pub fn word(self) -> &'static str {
        match self {
            CheckState::Ok => "ok",
            CheckState::Warn => "warn",
            CheckState::Fail => "fail",
        }
    }
}

/// What was checked, what was found, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// A short name: `repository`, `pytest`, `store`.
    pub name: String,
    pub state: CheckState,
    /// One line: what was found.
    pub found: String,
    /// The next step, on one line; for `warn` and `fail`.
    pub fix: Option<String>,
}

impl Check {
    pub fn ok(name: &str, found: impl Into<String>) -> Check {
        Check {
            name: name.to_owned(),
            state: CheckState::Ok,
            found: found.into(),
            fix: None,
        }
    }

    pub fn warn(name: &str, found: impl Into<String>, fix: impl Into<String>) -> Check {
        Check {
            state: CheckState::Warn,
            fix: Some(fix.into()),
            ..Check::ok(name, found)
        }
    }

    pub fn fail(name: &str, found: impl Into<String>, fix: impl Into<String>) -> Check {
        Check {
            state: CheckState::Fail,
            fix: Some(fix.into()),
            ..Check::ok(name, found)
        }
    }
}
