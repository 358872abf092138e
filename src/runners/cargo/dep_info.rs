//! What the compiler says that it has read for a crate: the file beside what it made.

use std::path::{Path, PathBuf};

use anyhow::Result;

/// What a crate was made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DepInfo {
    /// As they are written: relative to where the compiler ran.
    pub files: Vec<PathBuf>,
    /// Environment variables.
    pub variables: Vec<String>,
}

/// Reads such a file.
///
/// # Errors
/// If it cannot be read.
pub(super) fn read(file: &Path) -> Result<DepInfo> {
    Ok(parse(&fs_err::read_to_string(file)?))
}

fn parse(text: &str) -> DepInfo {
    let mut info = DepInfo::default();
    for line in text.lines() {
        if let Some(variable) = line.strip_prefix("# env-dep:") {
            let name = variable.split('=').next().unwrap_or(variable);
            info.variables.push(name.to_owned());
        } else if !line.starts_with('#')
            && let Some((_, files)) = line.split_once(": ")
        {
            for file in words(files) {
                let file = PathBuf::from(file);
                if !info.files.contains(&file) {
                    info.files.push(file);
                }
            }
        }
    }
    info
}

/// The words of a line, in which a space of a name stands behind a backslash.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&' ') => {
                chars.next();
                words.last_mut().expect("there is one").push(' ');
            }
            ' ' => words.push(String::new()),
            c => words.last_mut().expect("there is one").push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_variables_are_told_apart() {
        let text = "/t/a.d: src/lib.rs src/with\\ space.rs\n\n/t/a: src/lib.rs data.txt\n\
            src/lib.rs:\n# env-dep:CI\n# env-dep:HOME=/root\n";
        let info = parse(text);
        let files = ["src/lib.rs", "src/with space.rs", "data.txt"];
        assert_eq!(info.files, files.map(PathBuf::from));
        assert_eq!(info.variables, ["CI", "HOME"]);
    }
}
