//! What the words of `go test` mean.

use std::ffi::OsString;

/// A `go test` command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    /// The program, as it was typed.
    pub program: String,
    /// The flags, each with its value behind `=`.
    pub flags: Vec<String>,
    /// The packages.
    pub packages: Vec<String>,
    /// What the tests are given.
    pub args: Vec<String>,
}

/// Flags that take no value behind a space.
const SWITCHES: [&str; 23] = [
    "a",
    "asan",
    "benchmem",
    "buildvcs",
    "c",
    "cover",
    "failfast",
    "fullpath",
    "json",
    "linkshared",
    "modcacherw",
    "msan",
    "n",
    "race",
    "short",
    "trimpath",
    "v",
    "work",
    "x",
    "i",
    "artifacts",
    "h",
    "help",
];

/// Flags of which tamis does not know what they leave to it.
const OTHERS: [&str; 29] = [
    "bench",
    "benchmem",
    "benchtime",
    "blockprofile",
    "c",
    "cover",
    "covermode",
    "coverpkg",
    "coverprofile",
    "cpu",
    "cpuprofile",
    "exec",
    "fuzz",
    "fuzzminimizetime",
    "fuzztime",
    "h",
    "help",
    "i",
    "list",
    "memprofile",
    "mutexprofile",
    "n",
    "o",
    "outputdir",
    "overlay",
    "run",
    "shuffle",
    "skip",
    "toolexec",
];

/// Flags that change how a test is told of, or when it runs, and not how it ends.
const OF_DISPLAY: [&str; 8] = ["v", "json", "failfast", "p", "x", "work", "fullpath", "a"];

const TIMEOUT: &str = "timeout";
const DEFAULT_TIMEOUT: &str = "10m0s";

impl Words {
    /// `None` if it is another command.
    pub(super) fn read(command: &[OsString]) -> Option<Words> {
        let words: Option<Vec<&str>> = command.iter().map(|word| word.to_str()).collect();
        let words = words?;
        let (program, rest) = words.split_first()?;
        let name = program.rsplit('/').next().unwrap_or(program);
        let rest = match rest.split_first() {
            Some((&"test", rest)) if name == "go" => rest,
            _ => return None,
        };
        let mut read = Words {
            program: (*program).to_owned(),
            ..Words::default()
        };
        let mut rest = rest.iter();
        while let Some(word) = rest.next() {
            let Some(flag) = word.strip_prefix('-').filter(|flag| !flag.is_empty()) else {
                read.packages.push((*word).to_owned());
                continue;
            };
            let flag = flag.strip_prefix('-').unwrap_or(flag);
            if flag == "args" {
                read.args.extend(rest.map(|word| (*word).to_owned()));
                break;
            }
            let name = plain(flag);
            if flag.contains('=') || SWITCHES.contains(&name) {
                read.flags.push(flag.to_owned());
            } else {
                let value = rest.next()?;
                read.flags.push(format!("{flag}={value}"));
            }
        }
        Some(read)
    }

    /// Why tamis adds nothing to the command, if so. `more` are the flags of `GOFLAGS`.
    pub(super) fn why_left_alone(&self, more: &str) -> Option<String> {
        let own = self.flags.iter().map(String::as_str);
        let more = more
            .split_whitespace()
            .map(|flag| flag.trim_start_matches('-'));
        let mut flags = own.chain(more);
        let other = flags.find(|flag| {
            let name = plain(flag);
            // This is what tells `go test` to run anew, as tamis does.
            let is_many = name == "count" && *flag != "count=1";
            is_many || OTHERS.contains(&name)
        })?;
        Some(format!(
            "with -{} `go test` itself chooses what runs",
            plain(other)
        ))
    }

    /// The flags as they are typed, without how long a binary may take.
    pub(super) fn typed(&self) -> impl Iterator<Item = String> {
        let flags = self.flags.iter();
        let flags = flags.filter(|flag| plain(flag) != TIMEOUT);
        flags.map(|flag| format!("-{flag}"))
    }

    /// How long a binary may take.
    pub(super) fn timeout(&self) -> &str {
        let flags = self.flags.iter();
        let flags = flags.filter(|flag| plain(flag) == TIMEOUT);
        let value = flags.filter_map(|flag| flag.split_once('=')).next_back();
        value.map_or(DEFAULT_TIMEOUT, |(_, value)| value)
    }

    /// The flags that the `go` command knows without tests: `go list` and `go vet` take them.
    pub(super) fn of_build(&self) -> Vec<String> {
        const OF_BUILD: [&str; 16] = [
            "asan",
            "asmflags",
            "compiler",
            "gccgoflags",
            "gcflags",
            "installsuffix",
            "ldflags",
            "mod",
            "modcacherw",
            "modfile",
            "msan",
            "pgo",
            "race",
            "tags",
            "trimpath",
            "buildvcs",
        ];
        let flags = self.flags.iter();
        let flags = flags.filter(|flag| OF_BUILD.contains(&plain(flag)));
        flags.map(|flag| format!("-{flag}")).collect()
    }

    pub(super) fn is_json(&self) -> bool {
        self.flags
            .iter()
            .any(|flag| flag == "json" || flag == "json=true")
    }

    /// Whether `go vet` is told what to look for.
    pub(super) fn vets_otherwise(&self) -> bool {
        self.flags.iter().any(|flag| plain(flag) == "vet")
    }

    /// What decides how a test ends.
    pub(super) fn deciding(&self) -> String {
        let flags = self.flags.iter();
        let mut flags: Vec<&str> = flags
            .filter(|flag| !OF_DISPLAY.contains(&plain(flag)) && *flag != "count=1")
            .map(String::as_str)
            .collect();
        flags.sort_unstable();
        let args = self.args.iter().map(String::as_str);
        let words = flags.into_iter().chain(["args"]).chain(args);
        words
            .map(|word| format!("{} {word}\n", word.len()))
            .collect()
    }
}

/// The name of a flag.
fn plain(flag: &str) -> &str {
    let name = flag.split('=').next().unwrap_or(flag);
    name.strip_prefix("test.").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<Words> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        Words::read(&words)
    }

    #[test]
    fn flags_packages_and_arguments_are_told_apart() {
        let words = read("/x/go test -v -tags a,b --race ./... -timeout=3s -args -x y").unwrap();
        assert_eq!(words.program, "/x/go");
        assert_eq!(words.flags, ["v", "tags=a,b", "race", "timeout=3s"]);
        assert_eq!(words.packages, ["./..."]);
        assert_eq!(words.timeout(), "3s");
        assert_eq!(
            words.typed().collect::<Vec<_>>(),
            ["-v", "-tags=a,b", "-race"]
        );
        assert_eq!(words.args, ["-x", "y"]);
        assert_eq!(words.of_build(), ["-tags=a,b", "-race"]);
        assert_eq!(read("go vet ./..."), None);
        assert_eq!(read("make test"), None);
        assert_eq!(read("go test -tags"), None);
    }

    #[test]
    fn what_chooses_tests_itself_is_left_alone() {
        let why = |line: &str, more: &str| read(line).unwrap().why_left_alone(more).is_some();
        for line in [
            "-run X",
            "-test.run=X",
            "-bench .",
            "-count=2",
            "-c",
            "-coverprofile=c.out",
        ] {
            assert!(why(&format!("go test {line}"), ""), "{line}");
        }
        assert!(!why("go test -v -count=1 -short ./...", "-mod=mod"));
        assert!(why("go test", "-mod=mod -cover"));
    }

    #[test]
    fn what_only_shows_decides_nothing() {
        let deciding = |line: &str| read(line).unwrap().deciding();
        assert_eq!(
            deciding("go test -v -json ./a"),
            deciding("go test -count=1 ./...")
        );
        assert_ne!(deciding("go test -short"), deciding("go test"));
        assert_ne!(deciding("go test -args x"), deciding("go test"));
    }
}
