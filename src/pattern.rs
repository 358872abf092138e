//! Patterns for test ids (`always-run`) and paths (`run-all-when`).
//!
//! These are not shell patterns: test ids are full of brackets, so only `*` and `?` are
//! special.

use std::fmt;
use std::str::FromStr;

use crate::text::Text;

/// `*` matches any characters except `/`, `**` any characters, `?` one character except `/`. A
/// pattern for a folder, a test file or a test function also matches everything in it: it may
/// end before a `/`, `::` or `[`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    parts: Vec<Sign>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Byte(u8),
    /// One character of UTF-8, not `/`.
    One,
    /// Any number of bytes but `/`.
    Some,
    /// Any number of bytes.
    Any,
}

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Pattern, String> {
        let Text(text) = text.parse()?;
        let trimmed = text.trim_end_matches('/');
        let mut parts = Vec::with_capacity(trimmed.len());
        for byte in trimmed.bytes() {
            match (byte, parts.last()) {
                (b'*', Some(Sign::Some)) => *parts.last_mut().expect("just seen") = Sign::Any,
                (b'*', Some(Sign::Any)) => {}
                (b'*', _) => parts.push(Sign::Some),
                (b'?', _) => parts.push(Sign::One),
                (byte, _) => parts.push(Sign::Byte(byte)),
            }
        }
        if parts.is_empty() {
            return Err(format!("the pattern `{text}` matches nothing"));
        }
        Ok(Pattern { text, parts })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Pattern {
    /// The pattern of the files with the tests of this pattern: the part before `::`.
    pub fn of_file(&self) -> Pattern {
        let file = self.text.split("::").next().unwrap_or_default();
        file.parse().unwrap_or_else(|_| self.clone())
    }

    /// Whether one of `benign` patterns of `path#name` names a cell, which then leads from no test to
    /// another.
    #[must_use]
    pub fn is_benign(benign: &[Pattern], path: &str, name: &str) -> bool {
        let cell = format!("{path}#{name}");
        benign.iter().any(|one| one.matches(cell.as_bytes()))
    }

    /// Whether the pattern matches `name` or something that contains it.
    ///
    /// All positions in the pattern are followed at once. So for any pattern the time is at
    /// most the product of the two lengths.
    pub fn matches(&self, name: &[u8]) -> bool {
        self.follow(name, holds_more)
    }

    /// Whether the pattern matches the whole `name`: the branch `main/x` is not part of the
    /// branch `main`.
    pub fn matches_whole(&self, name: &[u8]) -> bool {
        self.follow(name, |_| false)
    }

    fn follow(&self, name: &[u8], may_end_before: fn(&[u8]) -> bool) -> bool {
        let end = self.parts.len();
        let mut reached = vec![false; end + 1];
        reached[0] = true;
        self.skip_stars(&mut reached);
        for (at, &byte) in name.iter().enumerate() {
            if reached[end] && may_end_before(&name[at..]) {
                return true;
            }
            let inside_character = is_continuation(byte);
            let mut next = vec![false; end + 1];
            for (place, part) in self.parts.iter().enumerate() {
                if !reached[place] {
                    continue;
                }
                match part {
                    Sign::Byte(wanted) => next[place + 1] |= *wanted == byte,
                    Sign::Some => next[place] |= byte != b'/',
                    Sign::Any => next[place] = true,
                    Sign::One => next[place + 1] |= byte != b'/' && !inside_character,
                }
            }
            if inside_character {
                // The other bytes of the character that a `?` matches.
                for (place, part) in self.parts.iter().enumerate() {
                    next[place + 1] |= *part == Sign::One && reached[place + 1];
                }
            }
            self.skip_stars(&mut next);
            reached = next;
        }
        reached[end]
    }

    /// A star may match nothing.
    fn skip_stars(&self, reached: &mut [bool]) {
        for (place, part) in self.parts.iter().enumerate() {
            if reached[place] && matches!(part, Sign::Some | Sign::Any) {
                reached[place + 1] = true;
            }
        }
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// Whether the rest of a name is inside the thing that was matched so far.
fn holds_more(rest: &[u8]) -> bool {
    rest.starts_with(b"/") || rest.starts_with(b"::") || rest.starts_with(b"[")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(pattern: &str, name: &str) -> bool {
        pattern.parse::<Pattern>().unwrap().matches(name.as_bytes())
    }

    #[test]
    fn patterns_name_things_and_what_they_hold() {
        let yes = [
            ("tests/slow", "tests/slow/test_a.py::test_b"),
            ("tests/slow/", "tests/slow/test_a.py::test_b"),
            ("tests/*/test_a.py", "tests/slow/test_a.py::T::test_b[x]"),
            ("**/test_a.py::T", "a/b/test_a.py::T::test_b"),
            ("t.py::test[a-b]", "t.py::test[a-b]"),
            ("t.py::test", "t.py::test[a/b]"),
            ("**.cfg", "deep/er/setup.cfg"),
            ("t?.py", "té.py"),
        ];
        for (pattern, name) in yes {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        let no = [
            ("tests/slow", "tests/slower/test_a.py"),
            ("tests/*", "other/tests/a.py"),
            ("*.cfg", "deep/setup.cfg"),
            ("t.py::test_a", "t.py::test_ab"),
            ("t.py::test[a]", "t.py::testa"),
            ("t?.py", "t/.py"),
        ];
        for (pattern, name) in no {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
        let whole = |pattern: &str, name: &str| {
            let pattern: Pattern = pattern.parse().unwrap();
            pattern.matches_whole(name.as_bytes())
        };
        assert!(whole("main", "main") && whole("release/*", "release/1.0"));
        for name in ["main/x", "main[x", "main::x", "domain"] {
            assert!(!whole("main", name), "{name}");
        }
        assert!(!whole("release/*", "release/1/x"));
        assert!("".parse::<Pattern>().is_err());
        assert!("/".parse::<Pattern>().is_err());
    }

    /// The definition, character by character.
    fn oracle(pattern: &[char], name: &[char]) -> bool {
        let Some(first) = pattern.first() else {
            let rest: String = name.iter().collect();
            return rest.is_empty() || holds_more(rest.as_bytes());
        };
        match first {
            '*' if pattern.starts_with(&['*', '*']) => {
                (0..=name.len()).any(|n| oracle(&pattern[2..], &name[n..]))
            }
            '*' => (0..=name.len())
                .take_while(|n| !name[..*n].contains(&'/'))
                .any(|n| oracle(&pattern[1..], &name[n..])),
            '?' => name.first().is_some_and(|c| *c != '/') && oracle(&pattern[1..], &name[1..]),
            c => name.first() == Some(c) && oracle(&pattern[1..], &name[1..]),
        }
    }

    proptest! {
        #[test]
        fn matching_follows_the_definition(
            pattern in "[ab/é?:*\\[]{0,6}[ab?*]",
            name in "[ab/é:\\[]{0,8}",
        ) {
            let chars = |text: &str| text.chars().collect::<Vec<char>>();
            prop_assert_eq!(
                matches(&pattern, &name),
                oracle(&chars(&pattern), &chars(&name)),
            );
        }
    }
}
