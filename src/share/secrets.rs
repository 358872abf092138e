//! Keeps secrets out of messages.

/// Shorter values are not secrets, and replacing them would garble messages.
const SHORTEST: usize = 8;

/// Removes from `text` passwords in URLs and the values of variables with the name of a
/// secret.
pub(crate) fn redact(text: &str) -> String {
    let secrets = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.to_str()?.to_ascii_uppercase();
        is_secret(&name).then(|| value.to_str().map(str::to_owned))?
    });
    hide(text, secrets)
}

fn is_secret(name: &str) -> bool {
    [
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "KEY",
        "CREDENTIAL",
        "SAS",
    ]
    .iter()
    .any(|word| name.contains(word))
}

fn hide(text: &str, secrets: impl Iterator<Item = String>) -> String {
    let mut text = without_userinfo(text);
    let mut secrets: Vec<String> = secrets
        .flat_map(|value| {
            let lines = value.lines().map(str::to_owned).collect::<Vec<_>>();
            lines.into_iter().chain([value])
        })
        .filter(|value| value.len() >= SHORTEST)
        .collect();
    // The longest first: one may contain another.
    secrets.sort_by_key(|value| std::cmp::Reverse(value.len()));
    for secret in secrets {
        text = text.replace(&secret, "***");
    }
    text
}

/// Turns `https://user:password@host/` into `https://***@host/`, and removes signed query
/// strings.
fn without_userinfo(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        shown.push_str(before);
        let end = after
            .find(|c: char| c.is_whitespace() || "'\"<>".contains(c))
            .unwrap_or(after.len());
        let (url, more) = after.split_at(end);
        let host_end = url.find(['/', '?', '#']).unwrap_or(url.len());
        let start = match url[..host_end].rfind('@') {
            Some(at) => {
                shown.push_str("***");
                at
            }
            None => 0,
        };
        let visible = &url[start..];
        match visible.split_once('?') {
            Some((path, _)) => {
                shown.push_str(path);
                shown.push_str("?***");
            }
            None => shown.push_str(visible),
        }
        rest = more;
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_secret_is_not_told() {
        let secrets = || ["ghs_abcdefgh".to_owned(), "short".to_owned()].into_iter();
        let cases = [
            (
                "fatal: unable to access 'https://u:p@ss@host/x.git/': no",
                "fatal: unable to access 'https://***@host/x.git/': no",
            ),
            ("Bearer ghs_abcdefgh short", "Bearer *** short"),
            (
                "https://b.example/a.zip?sig=abc&se=1 then https://c.example",
                "https://b.example/a.zip?*** then https://c.example",
            ),
            ("git:ssh://git@host/x", "git:ssh://***@host/x"),
            ("nothing to hide: a@b", "nothing to hide: a@b"),
        ];
        for (text, wanted) in cases {
            assert_eq!(hide(text, secrets()), wanted);
        }
    }

    #[test]
    fn names_tell_what_is_secret() {
        for name in [
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "TAMIS_SIGNING_KEY",
            "PGPASSWORD",
        ] {
            assert!(is_secret(name), "{name}");
        }
        assert!(!is_secret("HOME"));
    }
}
