//! Reads what a commit message claims. A claim tells where to look, and proves nothing: people
//! copy, squash and write messages by hand.

use bstr::{BStr, ByteSlice};

use crate::history::CommitId;
use crate::history::ids::parse_hex;

const PICKED: &[u8] = b"(cherry picked from commit ";
const REVERTED: &[u8] = b"This reverts commit ";
const SQUASHED: &[u8] = b"Squashed commit of the following:";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Claims {
    /// The commits in `cherry picked from` trailers, the newest first: each new pick adds its
    /// trailer at the end.
    pub picked: Vec<CommitId>,
    /// The last trailer of each run, in order. After a squash of several picks their messages
    /// follow each other.
    pub ends_of_trailers: Vec<CommitId>,
    /// The commits that `git merge --squash` lists, the newest first.
    pub listed: Vec<CommitId>,
    /// The commits of `This reverts commit` lines, in order.
    pub reverted: Vec<CommitId>,
    /// The pull request at the end of a subject: `Title (#12)`.
    pub pull_request: Option<u64>,
    /// The commit whose subject is quoted as undone: `Revert "Title"`.
    pub undone: Option<Undone>,
    /// `Merge HEAD into BASE`, which forges write for the check of a pull request.
    pub synthetic: Option<(CommitId, CommitId)>,
}

impl Claims {
    pub(super) fn parse(message: &BStr) -> Claims {
        let mut claims = Claims::default();
        let mut is_list = false;
        let mut is_after_trailer = false;
        for line in message.lines() {
            is_list |= line.starts_with(SQUASHED);
            if is_list && let Some(id) = line.strip_prefix(b"commit ").and_then(leading_id) {
                claims.listed.push(id);
            }
            let line = line.trim();
            let picked = line.strip_prefix(PICKED).and_then(leading_id);
            if let Some(id) = picked {
                claims.picked.insert(0, id);
                if is_after_trailer {
                    claims.ends_of_trailers.pop();
                }
                claims.ends_of_trailers.push(id);
            }
            is_after_trailer = picked.is_some();
            if let Some(id) = line.strip_prefix(REVERTED).and_then(leading_id) {
                claims.reverted.push(id);
            }
        }
        let subject = message.lines().next().unwrap_or_default().trim();
        claims.undone = Undone::parse(message);
        claims.pull_request = pull_request(subject);
        claims.synthetic = synthetic(subject);
        claims
    }
}

/// A commit that a message names only by its subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Undone {
    /// The subject without the number of a pull request.
    subject: Vec<u8>,
    /// The pull request in a forge's `Reverts owner/name#12`.
    pull_request: Option<u64>,
}

impl Undone {
    /// Reads `Revert "S"`, which undoes S, and `Reapply "S"`, which undoes `Revert "S"`. A
    /// forge may add a number after it.
    fn parse(message: &BStr) -> Option<Undone> {
        let mut lines = message.lines().map(ByteSlice::trim);
        let subject = without_number(lines.next()?);
        let quoted = |text: &[u8], word: &[u8]| {
            let rest = text.strip_prefix(word)?.strip_prefix(b" \"")?;
            Some(rest.strip_suffix(b"\"")?.to_vec())
        };
        let reverted = quoted(subject, b"Revert");
        let reapplied = || Some([b"Revert \"", &quoted(subject, b"Reapply")?[..], b"\""].concat());
        let number = |line: &[u8]| {
            let (_, number) = line.strip_prefix(b"Reverts ")?.rsplit_once_str("#")?;
            let number = number.strip_suffix(b".").unwrap_or(number);
            number.to_str().ok()?.parse().ok()
        };
        Some(Undone {
            subject: reverted.or_else(reapplied)?,
            pull_request: lines.find_map(number),
        })
    }

    /// Whether a commit with this message can be meant.
    pub(super) fn can_mean(&self, message: &[u8]) -> bool {
        let subject = message.lines().next().unwrap_or_default().trim();
        let is_number = |number: u64| {
            let merged = format!("Merge pull request #{number} ");
            pull_request(subject) == Some(number) || subject.starts_with(merged.as_bytes())
        };
        subject == self.subject
            || without_number(subject) == self.subject
            || self.pull_request.is_some_and(is_number)
    }
}

/// A subject without the ` (#12)` that forges add.
fn without_number(subject: &[u8]) -> &[u8] {
    match (pull_request(subject), subject.rsplit_once_str(" (#")) {
        (Some(_), Some((title, _))) => title,
        _ => subject,
    }
}

/// Splits a raw commit into its header and its message.
pub(super) fn split(raw: &[u8]) -> (&[u8], &[u8]) {
    raw.split_once_str("\n\n").unwrap_or((raw, b""))
}

fn leading_id(text: &[u8]) -> Option<CommitId> {
    let ends = text.get(40).is_none_or(|byte| !byte.is_ascii_hexdigit());
    parse_hex(text.get(..40)?).filter(|_| ends).map(CommitId)
}

fn pull_request(subject: &[u8]) -> Option<u64> {
    let (_, number) = subject.strip_suffix(b")")?.rsplit_once_str("(#")?;
    number.to_str().ok()?.parse().ok()
}

fn synthetic(subject: &[u8]) -> Option<(CommitId, CommitId)> {
    let (head, base) = subject.strip_prefix(b"Merge ")?.split_once_str(" into ")?;
    Some((CommitId(parse_hex(head)?), CommitId(parse_hex(base)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(digit: char) -> String {
        digit.to_string().repeat(40)
    }

    fn parse(text: &str) -> Claims {
        Claims::parse(text.into())
    }

    #[test]
    fn the_last_trailer_is_the_newest() {
        let text = format!(
            "Fix\n\n(cherry picked from commit {})\n(cherry picked from commit {})\n",
            id('a'),
            id('b')
        );
        let ids: Vec<String> = parse(&text)
            .picked
            .iter()
            .map(|it| it.to_string())
            .collect();
        assert_eq!(ids, [id('b'), id('a')]);
        assert_eq!(parse(&text).ends_of_trailers, [id('b').parse().unwrap()]);
    }

    #[test]
    fn squashed_messages_tell_of_each_pick_and_lists_of_each_commit() {
        let picked = |digit| format!("(cherry picked from commit {})", id(digit));
        let ids = |digits: &str| -> Vec<CommitId> {
            digits.chars().map(|it| id(it).parse().unwrap()).collect()
        };
        let messages = parse(&format!(
            "One\n\n{}\n{}\n\nTwo\n\n{}\n",
            picked('a'),
            picked('b'),
            picked('c')
        ));
        assert_eq!(messages.picked, ids("cba"));
        assert_eq!(messages.ends_of_trailers, ids("bc"));
        assert_eq!(messages.listed, []);
        let list = parse(&format!(
            "Title\n\nSquashed commit of the following:\n\ncommit {}\nAuthor: A\n\n    Two\n    \
             {}\n\ncommit {}\nAuthor: A\n\n    commit {}\n",
            id('1'),
            picked('d'),
            id('2'),
            id('3')
        ));
        assert_eq!(list.listed, ids("12"));
        assert_eq!(list.ends_of_trailers, ids("d"));
        let no_list = format!("commit {}\n", id('1'));
        assert_eq!(parse(&no_list), Claims::default());
    }

    #[test]
    fn reverts_of_commits_and_of_merges_are_read() {
        let plain = parse(&format!(
            "Revert \"x\"\n\nThis reverts commit {}.\n",
            id('1')
        ));
        let merge = parse(&format!(
            "Revert \"x\"\n\nThis reverts commit {}, reversing\nchanges made to {}.\n",
            id('1'),
            id('2')
        ));
        assert_eq!(plain.reverted, [id('1').parse().unwrap()]);
        assert_eq!(merge.reverted, plain.reverted);
    }

    #[test]
    fn what_is_no_full_name_claims_nothing() {
        let long = format!("This reverts commit {}0.", id('1'));
        for text in [
            "This reverts commit abc123.",
            "Title (#x)",
            "Merge a into b",
            &long,
            "",
        ] {
            assert_eq!(parse(text), Claims::default(), "{text}");
        }
    }

    #[test]
    fn what_subjects_quote_is_read_as_git_and_forges_write_it() {
        let undone = |text: &str| parse(text).undone;
        let of = |subject: &str, pull_request| {
            Some(Undone {
                subject: subject.into(),
                pull_request,
            })
        };
        assert_eq!(undone("Revert \"a \"b\" c\""), of("a \"b\" c", None));
        assert_eq!(undone("Reapply \"a\""), of("Revert \"a\"", None));
        assert_eq!(
            undone("Revert \"Reapply \"a\"\""),
            of("Reapply \"a\"", None)
        );
        let forge = "Revert \"a\" (#7)\n\nReverts owner/name#6\n";
        assert_eq!(undone(forge), of("a", Some(6)));
        for text in [
            "Revert a",
            "Reverts \"a\"",
            "Revert \"a\" now",
            "revert \"a\"",
            "",
        ] {
            assert_eq!(undone(text), None, "{text}");
        }
        let undone = undone(forge).unwrap();
        for (message, can) in [
            ("a", true),
            ("a (#3)\n\ntext", true),
            ("b (#6)", true),
            ("Merge pull request #6 from owner/branch\n\na", true),
            ("Merge pull request #60 from owner/branch\n\na", false),
            ("b\n\na", false),
        ] {
            assert_eq!(undone.can_mean(message.as_bytes()), can, "{message}");
        }
    }

    #[test]
    fn pull_requests_are_read_from_subjects_alone() {
        assert_eq!(parse("Title (#12)\n\nbody (#13)").pull_request, Some(12));
        let text = format!("Merge {} into {}", id('a'), id('b'));
        let expected = (id('a').parse().unwrap(), id('b').parse().unwrap());
        assert_eq!(parse(&text).synthetic, Some(expected));
    }
}
