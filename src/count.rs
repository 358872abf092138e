//! Numbers of things, as text for people.

/// `1 test`, `1,992 tests`, `2 matrices`.
pub(crate) fn counted(count: impl TryInto<u64>, thing: &str) -> String {
    // No machine has more things than that.
    let count = count.try_into().unwrap_or(u64::MAX);
    match (count, thing.strip_suffix("ix")) {
        (1, _) => format!("1 {thing}"),
        (_, Some(stem)) => format!("{} {stem}ices", number(count)),
        (_, None) => format!("{} {thing}s", number(count)),
    }
}

/// The form of a verb for this number.
pub(crate) fn verb<'a>(count: usize, one: &'a str, many: &'a str) -> &'a str {
    match count {
        1 => one,
        _ => many,
    }
}

/// `1234567` as `1,234,567`.
pub(crate) fn number(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_not_several() {
        let told = [0_usize, 1, 2, 1992].map(|count| counted(count, "test"));
        assert_eq!(told, ["0 tests", "1 test", "2 tests", "1,992 tests"]);
        assert_eq!(counted(1_u32, "matrix"), "1 matrix");
        assert_eq!(counted(3_u32, "matrix"), "3 matrices");
        assert_eq!(
            [1, 2].map(|count| verb(count, "was", "were")),
            ["was", "were"]
        );
    }

    #[test]
    fn long_numbers_read_well() {
        assert_eq!(
            [0, 12, 999, 1000, 1234567].map(number),
            ["0", "12", "999", "1,000", "1,234,567"]
        );
    }
}
