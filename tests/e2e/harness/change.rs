//! Changes of a project between two runs, as data.

use super::project::Project;

/// One change. Paths are relative to the project; `@outside/…` is beside the repository and
/// `@site/…` in the site-packages of the project's own virtual environment.
#[derive(Clone, Debug)]
pub enum Change {
    Write(String, String),
    /// Replaces the only occurrence of a text in a file.
    Replace(String, String, String),
    Append(String, String),
    Delete(String),
    Rename(String, String),
    /// A symbolic link at the first path with the second as its target.
    Symlink(String, String),
    /// Sets or unsets an environment variable for the commands that follow.
    Env(String, Option<String>),
    /// Runs a Python program in the project's folder.
    Python(String),
    /// Makes the files in site-packages that pip makes for this distribution.
    Install(String, String, Vec<(String, String)>),
    Uninstall(String),
}

pub fn write(path: &str, text: &str) -> Change {
    Change::Write(path.into(), text.into())
}

pub fn replace(path: &str, from: &str, to: &str) -> Change {
    Change::Replace(path.into(), from.into(), to.into())
}

pub fn append(path: &str, text: &str) -> Change {
    Change::Append(path.into(), text.into())
}

pub fn delete(path: &str) -> Change {
    Change::Delete(path.into())
}

pub fn rename(from: &str, to: &str) -> Change {
    Change::Rename(from.into(), to.into())
}

pub fn symlink(path: &str, target: &str) -> Change {
    Change::Symlink(path.into(), target.into())
}

pub fn env(name: &str, value: &str) -> Change {
    Change::Env(name.into(), Some(value.into()))
}

pub fn unset(name: &str) -> Change {
    Change::Env(name.into(), None)
}

pub fn python(program: &str) -> Change {
    Change::Python(program.into())
}

pub fn install(name: &str, version: &str, files: &[(&str, &str)]) -> Change {
    let files = files
        .iter()
        .map(|&(path, text)| (path.into(), text.into()))
        .collect();
    Change::Install(name.into(), version.into(), files)
}

pub fn uninstall(name: &str) -> Change {
    Change::Uninstall(name.into())
}

impl Change {
    pub fn apply(&self, project: &mut Project) {
        match self {
            Change::Write(path, text) => project.write(path, text),
            Change::Replace(path, from, to) => {
                let text = project.read(path);
                let count = text.matches(from.as_str()).count();
                assert_eq!(count, 1, "{path} must hold {from:?} once:\n{text}");
                project.write(path, &text.replacen(from.as_str(), to, 1));
            }
            Change::Append(path, more) => {
                let text = project.read(path);
                project.write(path, &(text + more));
            }
            Change::Delete(path) => project.delete(path),
            Change::Rename(from, to) => project.rename(from, to),
            Change::Symlink(path, target) => project.symlink(path, target),
            Change::Env(name, value) => project.set_env(name, value.as_deref()),
            Change::Python(program) => project.python(program),
            Change::Install(name, version, files) => project.install(name, version, files),
            Change::Uninstall(name) => project.uninstall(name),
        }
    }
}
