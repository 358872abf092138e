//! What a commit says of itself. A claim is a place to look at, never a
//! proof: texts are copied, squashed and written by hand.

use bstr::{BStr, ByteSlice};

use crate::history::CommitId;
use crate::history::ids::parse_hex;

const PICKED: &[u8] = b"(cherry picked from commit ";
const REVERTED: &[u8] = b"This reverts commit ";

/// What a message claims.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Claims {
    /// The commits of `cherry picked from` trailers, the newest first: each
    /// further pick adds its trailer at the end.
    pub picked: Vec<CommitId>,
    /// The commits of `This reverts commit` lines, in order.
    pub reverted: Vec<CommitId>,
    /// The pull request that a subject ends with: `Title (#12)`.
    pub pull_request: Option<u64>,
    /// `Merge HEAD into BASE`, as forges write for a pull request's check.
    pub synthetic: Option<(CommitId, CommitId)>,
}

impl Claims {
    pub fn parse(message: &BStr) -> Claims {
        let mut claims = Claims::default();
        for line in message.lines().map(ByteSlice::trim) {
            if let Some(id) = line.strip_prefix(PICKED).and_then(leading_id) {
                claims.picked.insert(0, id);
            }
            if let Some(id) = line.strip_prefix(REVERTED).and_then(leading_id) {
                claims.reverted.push(id);
            }
        }
        let subject = message.lines().next().unwrap_or_default().trim();
        claims.pull_request = pull_request(subject);
        claims.synthetic = synthetic(subject);
        claims
    }
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
    fn pull_requests_are_read_from_subjects_alone() {
        assert_eq!(parse("Title (#12)\n\nbody (#13)").pull_request, Some(12));
        let text = format!("Merge {} into {}", id('a'), id('b'));
        let expected = (id('a').parse().unwrap(), id('b').parse().unwrap());
        assert_eq!(parse(&text).synthetic, Some(expected));
    }
}
