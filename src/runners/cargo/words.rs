//! What the words of `cargo test` mean.

use std::ffi::OsString;

/// A `cargo test` command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    /// The program, as it was typed.
    pub program: String,
    /// The toolchain, as `+name`.
    pub toolchain: Option<String>,
    /// The flags of Cargo, as they were typed.
    pub flags: Vec<String>,
    /// What names tests.
    pub filters: Vec<String>,
    /// What the tests are given.
    pub args: Vec<String>,
}

/// Flags that take a value behind a space.
const WITH_VALUE: [&str; 19] = [
    "-p",
    "--package",
    "--exclude",
    "--test",
    "--bin",
    "--example",
    "--bench",
    "-F",
    "--features",
    "--target",
    "--profile",
    "--target-dir",
    "--manifest-path",
    "-j",
    "--jobs",
    "--color",
    "--config",
    "-Z",
    "--message-format",
];

/// Flags of which tamis does not know what they leave to it.
const OTHERS: [&str; 13] = [
    "--bench",
    "--benches",
    "--build-plan",
    "-C",
    "--doc",
    "-h",
    "--help",
    "--future-incompat-report",
    "--message-format",
    "--no-run",
    "--target",
    "--unit-graph",
    "-Z",
];

/// Flags that change how tests are told of, or when they run, and not how they end.
const OF_DISPLAY: [&str; 11] = [
    "-q",
    "--quiet",
    "-v",
    "-vv",
    "--verbose",
    "--color",
    "-j",
    "--jobs",
    "--no-fail-fast",
    "--keep-going",
    "--timings",
];

/// The same of test binaries.
const SHOWING: [&str; 6] = [
    "--nocapture",
    "--no-capture",
    "--show-output",
    "-q",
    "--quiet",
    "--color",
];

/// How many tests run at a time.
const THREADS: &str = "--test-threads";

impl Words {
    /// `None` if it is another command.
    pub(super) fn read(command: &[OsString]) -> Option<Words> {
        let words: Option<Vec<&str>> = command.iter().map(|word| word.to_str()).collect();
        let words = words?;
        let (program, rest) = words.split_first()?;
        if program.rsplit('/').next() != Some("cargo") {
            return None;
        }
        let mut rest = rest;
        let mut toolchain = None;
        if let Some((first, more)) = rest.split_first()
            && first.starts_with('+')
        {
            toolchain = Some((*first).to_owned());
            rest = more;
        }
        let rest = match rest.split_first() {
            Some((&("test" | "t"), rest)) => rest,
            _ => return None,
        };
        let mut read = Words {
            program: (*program).to_owned(),
            toolchain,
            ..Words::default()
        };
        let mut rest = rest.iter().map(|word| (*word).to_owned());
        while let Some(word) = rest.next() {
            if word == "--" {
                read.args.extend(rest);
                break;
            }
            if !word.starts_with('-') {
                read.filters.push(word);
                continue;
            }
            let takes_value = WITH_VALUE.contains(&word.as_str());
            read.flags.push(word);
            if takes_value {
                read.flags.push(rest.next()?);
            }
        }
        Some(read)
    }

    /// Each flag with its value.
    fn pairs(&self) -> Vec<(&str, Option<&str>)> {
        let mut pairs = Vec::new();
        let mut flags = self.flags.iter();
        while let Some(flag) = flags.next() {
            pairs.push(match flag.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None if WITH_VALUE.contains(&flag.as_str()) => {
                    (flag.as_str(), flags.next().map(String::as_str))
                }
                // `-p` and its value can be one word.
                None => match WITH_VALUE
                    .iter()
                    .find(|one| one.len() == 2 && flag.starts_with(*one))
                {
                    Some(one) => (*one, Some(&flag[2..])),
                    None => (flag.as_str(), None),
                },
            });
        }
        pairs
    }

    /// Why tamis adds nothing to the command, if so.
    pub(super) fn why_left_alone(&self) -> Option<String> {
        let pairs = self.pairs();
        let is_runner = |name: &str, value: Option<&str>| {
            name == "--config" && value.is_some_and(|value| value.contains("runner"))
        };
        let mut others = pairs.iter();
        let other = others.find(|(name, value)| OTHERS.contains(name) || is_runner(name, *value));
        let other = other.map(|(name, _)| *name);
        let mut args = self.args.iter();
        let is_known = |arg: &&String| {
            let name = arg.split('=').next().unwrap_or(arg);
            SHOWING.contains(&name) || name == THREADS || arg.parse::<usize>().is_ok()
        };
        let arg = args.find(|arg| !is_known(arg)).map(String::as_str);
        let word = other.or(self.filters.first().map(String::as_str)).or(arg)?;
        Some(format!(
            "with `{word}`, `cargo test` itself chooses what runs"
        ))
    }

    /// The flags that `cargo metadata` knows, too.
    pub(super) fn of_metadata(&self) -> Vec<String> {
        const KNOWN: [&str; 9] = [
            "-F",
            "--features",
            "--all-features",
            "--no-default-features",
            "--manifest-path",
            "--locked",
            "--offline",
            "--frozen",
            "--config",
        ];
        let pairs = self.pairs().into_iter();
        let known = pairs.filter(|(name, _)| KNOWN.contains(name));
        known
            .flat_map(|(name, value)| [Some(name), value])
            .flatten()
            .map(str::to_owned)
            .collect()
    }

    /// What decides how a test ends.
    pub(super) fn deciding(&self) -> String {
        let pairs = self.pairs().into_iter();
        let mut flags: Vec<String> = pairs
            .filter(|(name, _)| !OF_DISPLAY.contains(name))
            .map(|(name, value)| format!("{name} {}", value.unwrap_or_default()))
            .collect();
        flags.sort_unstable();
        let words = self.toolchain.iter().cloned().chain(flags);
        words
            .map(|word| format!("{} {word}\n", word.len()))
            .collect()
    }

    /// How many tests are to run at a time, if that is said.
    pub(super) fn threads(args: &[String]) -> Option<usize> {
        let at = args.iter().position(|arg| arg.starts_with(THREADS))?;
        match args[at].split_once('=') {
            Some((_, value)) => value.parse().ok(),
            None => args.get(at + 1)?.parse().ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<Words> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        Words::read(&words)
    }

    #[test]
    fn flags_filters_and_arguments_are_told_apart() {
        let words = read(
            "/x/cargo +stable test -p a --features=x --lib -j 2 -- --nocapture --test-threads 1",
        )
        .unwrap();
        assert_eq!(words.program, "/x/cargo");
        assert_eq!(words.toolchain.as_deref(), Some("+stable"));
        assert_eq!(words.why_left_alone(), None);
        assert_eq!(words.of_metadata(), ["--features", "x"]);
        assert_eq!(Words::threads(&words.args), Some(1));
        assert_eq!(read("cargo build"), None);
        assert_eq!(read("make test"), None);
        assert_eq!(read("cargo test -p"), None);
    }

    #[test]
    fn what_chooses_tests_itself_is_left_alone() {
        for line in [
            "name",
            "--doc",
            "--no-run",
            "--target x",
            "-- --ignored",
            "-- some_test",
            "--message-format json",
        ] {
            let words = read(&format!("cargo test {line}")).unwrap();
            assert!(words.why_left_alone().is_some(), "{line}");
        }
    }

    #[test]
    fn what_only_shows_decides_nothing() {
        let deciding = |line: &str| read(line).unwrap().deciding();
        assert_eq!(
            deciding("cargo test -q -j 3"),
            deciding("cargo t -- --nocapture")
        );
        assert_ne!(deciding("cargo test --release"), deciding("cargo test"));
        assert_ne!(deciding("cargo +beta test"), deciding("cargo test"));
    }
}
