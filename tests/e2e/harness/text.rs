//! Several files in one text, so that a project can be read at a glance: a line `-- path --`
//! begins each file.

/// Splits `text` into (path, content).
pub fn files(text: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    for line in text.trim_start_matches('\n').split_inclusive('\n') {
        let heading = line
            .trim_end_matches('\n')
            .strip_prefix("-- ")
            .and_then(|rest| rest.strip_suffix(" --"));
        match (heading, files.last_mut()) {
            (Some(path), _) => files.push((path.to_owned(), String::new())),
            (None, Some((_, content))) => content.push_str(line),
            (None, None) => panic!("the text must begin with a `-- path --` line, not {line:?}"),
        }
    }
    for (_, content) in &mut files {
        // The empty line before the next heading only helps the reader.
        if content.ends_with("\n\n") {
            content.pop();
        }
    }
    files
}

#[test]
fn headings_split_files() {
    let got = files("-- a.py --\nx = 1\n\n-- d/b.txt --\nhello\n");
    let want = [("a.py", "x = 1\n"), ("d/b.txt", "hello\n")];
    assert_eq!(
        got,
        want.map(|(path, text)| (path.to_owned(), text.to_owned()))
    );
}
