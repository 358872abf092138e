//! Names of composed tests, and of variables that cannot keep theirs.

use std::collections::BTreeSet;

/// Longer names do not fit into a line with their `def`.
const LONGEST: usize = 70;

/// Longer ends of variables are replaced by numbers.
const LONGEST_END: usize = 16;

/// What tells a test from the others of its class.
pub(super) fn stem(name: &str) -> &str {
    let rest = name.strip_prefix("test").unwrap_or(name);
    let rest = rest.trim_start_matches('_');
    if rest.is_empty() { name } else { rest }
}

/// The name of a test that `names` were joined to, as in \[V, figure 2\]: that of the first, and
/// what tells the others. A long one only tells how many they are. It is none of `taken`.
pub(crate) fn composed_name(names: &[&str], taken: &BTreeSet<String>) -> String {
    let (first, others) = names.split_first().unwrap_or((&"test", &[]));
    let mut whole = (*first).to_owned();
    for other in others {
        whole.push('_');
        whole.push_str(stem(other));
    }
    if whole.chars().count() > LONGEST {
        whole = format!("{first}_and_{}_more", others.len());
    }
    unique(&whole, |name| taken.contains(name))
}

/// A name for the variable `name` of a test besides others.
pub(super) fn variable_name(name: &str, test: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let end = stem(test).to_lowercase();
    let is_word = end.chars().all(|c| c.is_alphanumeric() || c == '_');
    match is_word && end.chars().count() <= LONGEST_END {
        true => unique(&format!("{name}_{end}"), is_taken),
        false => (2..)
            .map(|number| format!("{name}_{number}"))
            .find(|name| !is_taken(name))
            .unwrap_or_default(),
    }
}

fn unique(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    let mut all = std::iter::once(name.to_owned()).chain(numbered);
    all.find(|name| !is_taken(name)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_was_joined() {
        let none = BTreeSet::new();
        let of = |names: &[&str]| composed_name(names, &none);
        assert_eq!(
            of(&["testAdd", "testSubtract", "testMultiply"]),
            "testAdd_Subtract_Multiply"
        );
        assert_eq!(of(&["test_a", "test_b", "test"]), "test_a_b_test");
        let long = "test_".to_owned() + &"x".repeat(80);
        assert_eq!(of(&["test_a", &long, "test_b"]), "test_a_and_2_more");
        let taken = ["test_a_b".to_owned()].into();
        assert_eq!(composed_name(&["test_a", "test_b"], &taken), "test_a_b_2");
    }

    #[test]
    fn variables_get_the_name_of_their_test() {
        assert_eq!(variable_name("z", "testSubtract", |_| false), "z_subtract");
        assert_eq!(variable_name("z", "test_b", |name| name == "z_b"), "z_b_2");
        let long = "test_".to_owned() + &"x".repeat(80);
        assert_eq!(variable_name("z", &long, |name| name == "z_2"), "z_3");
    }
}
