//! The listing of a shared store, including the files that cannot be used.

use std::fmt;

use super::Offer;

/// How many damaged files one message names.
const MOST_NAMED: usize = 3;

/// How many characters of a name are shown; anybody may have chosen it.
const LONGEST: usize = 300;

/// What one look at a shared store finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Offers that may be useful, the newest first.
    pub offers: Vec<Offer>,
    pub damaged: Vec<Damaged>,
}

/// A file that cannot be used: damaged, cut off, of another program or of a newer version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// The store's name for it.
    pub file: String,
    pub why: String,
}

impl Damaged {
    pub fn new(file: impl Into<String>, why: impl fmt::Display) -> Damaged {
        Damaged {
            file: file.into(),
            why: why.to_string(),
        }
    }
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown: String = self.file.chars().take(LONGEST).collect();
        if shown.len() < self.file.len() {
            shown.push('…');
        }
        write!(f, "{shown}: {}", self.why)
    }
}

/// Names all of them on one line; empty if there are none.
pub(crate) fn name_damaged(damaged: &[Damaged]) -> String {
    let named: Vec<String> = damaged
        .iter()
        .take(MOST_NAMED)
        .map(ToString::to_string)
        .collect();
    let rest = damaged.len().saturating_sub(MOST_NAMED);
    match rest {
        0 => named.join("; "),
        _ => format!("{}; and {rest} more", named.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_are_named_and_the_rest_is_counted() {
        let all: Vec<Damaged> = (0..5)
            .map(|at| Damaged::new(format!("f{at}"), "cut off"))
            .collect();
        assert_eq!(name_damaged(&all[..1]), "f0: cut off");
        let told = name_damaged(&all);
        assert_eq!(told, "f0: cut off; f1: cut off; f2: cut off; and 2 more");
        assert_eq!(
            Damaged::new("é".repeat(500), "x")
                .to_string()
                .chars()
                .count(),
            LONGEST + 4
        );
    }
}
