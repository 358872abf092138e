//! `+` records, as agents write them: by far the most of a trace. Reading them
//! as any JSON takes several times as long.

/// The scope, units and edges of a `+` record; `None` if it is spelled otherwise.
pub(super) fn read(line: &[u8]) -> Option<(u64, Vec<u64>, Vec<u64>)> {
    let rest = line.strip_prefix(b"[\"+\",")?;
    let (scope, rest) = digits(rest)?;
    let (units, rest) = list(rest.strip_prefix(b",[")?)?;
    let (edges, rest) = list(rest.strip_prefix(b",[")?)?;
    (rest == b"]").then_some((scope, units, edges))
}

/// The numbers up to the closing bracket, and what follows it.
fn list(mut rest: &[u8]) -> Option<(Vec<u64>, &[u8])> {
    let mut found = Vec::with_capacity(rest.len() / 11 + 1);
    if let Some(rest) = rest.strip_prefix(b"]") {
        return Some((found, rest));
    }
    loop {
        let (number, after) = digits(rest)?;
        found.push(number);
        rest = match after.split_first()? {
            (b',', rest) => rest.strip_prefix(b" ").unwrap_or(rest),
            (b']', rest) => return Some((found, rest)),
            _ => return None,
        };
    }
}

fn digits(text: &[u8]) -> Option<(u64, &[u8])> {
    let end = text.iter().position(|byte| !byte.is_ascii_digit())?;
    let (digits, rest) = text.split_at(end);
    // As JSON has it: no leading zeros, and few enough not to overflow.
    if digits.is_empty() || digits.len() > 18 || (digits[0] == b'0' && digits.len() > 1) {
        return None;
    }
    let number = digits
        .iter()
        .fold(0, |all, digit| all * 10 + u64::from(digit - b'0'));
    Some((number, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn additions_are_read_as_json_would_be() {
        let told = [
            r#"["+",7,[],[]]"#,
            r#"["+",0,[1073741824],[0]]"#,
            r#"["+",12,[1073741824,1073741825],[3, 4, 10]]"#,
        ];
        for line in told {
            let (_, scope, units, edges): (String, u64, Vec<u64>, Vec<u64>) =
                serde_json::from_str(line).unwrap();
            assert_eq!(read(line.as_bytes()), Some((scope, units, edges)), "{line}");
        }
        // JSON, but as no agent writes it; and what is none.
        let others = [
            "[\"+\", 7, [1], [0]]",
            "[\"+\",7,[1,2],[0]] ",
            "[\"+\",7,[1234567890123456789],[]]",
            "[\"+\",7,[1]]",
            "[\"+\",7,[1,],[]]",
            "[\"+\",7,[,1],[]]",
            "[\"+\",07,[1],[]]",
            "[\"+\",7,[1,[]]",
            "[\"+\",7,[1],[]",
            "[\"+\",7,[01],[]]",
            "[\"+\",7,[-1],[]]",
        ];
        for line in others {
            assert_eq!(read(line.as_bytes()), None, "{line}");
        }
    }
}
