//! Reading `tamis.yml`: values and error messages.

use super::*;
use crate::report::testing::message;

fn error(text: impl AsRef<[u8]>) -> String {
    message(&parse(text.as_ref(), NAME).unwrap_err())
}

#[test]
fn every_key_is_read() {
    let config = parse(
        b"\xef\xbb\xbfversion: 1\nsuite: unit\nrunner: pytest\ncommand: [pytest, -q]\n\
              python: .venv/bin/python\nroot: svc\nstore: cache\nstrategy: memo\n\
              shared-store: git:up\nshared-label: py3\n\
              trust: {repository: o/r, refs: [main], events: [push], workflows: [ci.yml]}\n\
              always-run: ['t.py::x[1]']\nrun-all-when: [Makefile]\nlock-files: [uv.lock]\n\
              benign-state: ['a.py#_CACHE']\nrun-all-every: 10\n\
              keep-together: [db, [a.py, 'b.py::t']]\n\
              env:\n  ignore: [CI]\nkeep: 7\n",
        NAME,
    )
    .unwrap();
    insta::assert_snapshot!(
        format!(
            "{:?} {:?} {:?} {:?} {:?} {:?} {:?}",
            config.suite, config.runner, config.command, config.root, config.strategy,
            config.env_ignore, config.keep,
        ),
        @r#"Some(Text("unit")) Some(pytest) Some([Text("pytest"), Text("-q")]) Some(SubFolder("svc")) Some(Memo) Some([Text("CI")]) Some(Count(7))"#
    );
    assert!(config.python.is_some() && config.store.is_some());
    assert!(config.always_run.unwrap()[0].matches(b"t.py::x[1]"));
    assert!(config.run_all_when.unwrap()[0].matches(b"Makefile"));
    assert!(config.benign_state.unwrap()[0].matches(b"a.py#_CACHE"));
    assert_eq!(config.lock_files.unwrap(), [Text("uv.lock".into())]);
    assert_eq!(config.run_all_every, Some(Count(10)));
    let groups = config.keep_together.unwrap();
    let groups = groups
        .iter()
        .map(|group| group.iter().map(ToString::to_string));
    let groups: Vec<Vec<String>> = groups.map(Iterator::collect).collect();
    assert_eq!(groups, [vec!["db"], vec!["a.py", "b.py::t"]]);
}

#[test]
fn groups_are_patterns_or_lists_of_them() {
    for wrong in ["db", "[[]]", "[{a: b}]", "[[a, [b]]]", "[7]", "['']"] {
        let text = error(format!("version: 1\nkeep-together: {wrong}\n"));
        assert!(text.contains("keep-together"), "{wrong}: {text}");
    }
    assert!(error("version: 1\nrun-all-every: 0\n").contains("run-all-every"));
}

#[test]
fn unknown_keys_get_their_place_and_the_nearest() {
    insta::assert_snapshot!(error("version: 1\n\nstrateg: all\n"), @r"
        error: tamis.yml:3:1: unknown key `strateg`; did you mean `strategy`?
        3 | strateg: all
          | ^
        ");
    insta::assert_snapshot!(error("version: 1\nenv:\n  ignores: [CI]\n"), @r"
        error: tamis.yml:3:3: env: unknown key `ignores`; did you mean `ignore`?
        3 |   ignores: [CI]
          |   ^
        ");
    insta::assert_snapshot!(error("version: 1\nxyz: 1\n"), @r"
        error: tamis.yml:2:1: unknown key `xyz`; the keys are version, suite, suites, runner, command, tests, python, root, paths, store, shared-store, shared-label, trust, deepen, strategy, always-run, run-all-when, run-all-every, lock-files, benign-state, keep-together, granularity, debug-info, env, keep
        2 | xyz: 1
          | ^
        ");
}

#[test]
fn duplicate_keys_are_refused_at_the_second() {
    insta::assert_snapshot!(error("version: 1\nkeep: 1\nkeep: 2\n"), @r"
        error: tamis.yml:3:1: the key `keep` is here twice
        3 | keep: 2
          | ^
        ");
}

#[test]
fn tabs_get_a_hint() {
    insta::assert_snapshot!(error("version: 1\nenv:\n\tignore: [CI]\n"), @r"
        error: tamis.yml:3:1: found character that cannot start any token, while scanning for the next token
        3 | →ignore: [CI]
          | ^
        hint: YAML forbids tabs for indenting: use spaces
        ");
}

#[test]
fn wrong_types_and_values_say_what_is_right() {
    insta::assert_snapshot!(error("version: 1\ncommand: pytest -q\n"), @r#"
        error: tamis.yml:2:10: command: invalid type: string "pytest -q", expected a list, such as [first, second]
        2 | command: pytest -q
          |          ^
        "#);
    insta::assert_snapshot!(error("version: 1\nsuite: [a]\n"), @r"
        error: tamis.yml:2:8: suite: invalid type: sequence, expected one value
        2 | suite: [a]
          |        ^
        ");
    insta::assert_snapshot!(error("version: 1\nkeep: many\n"), @r"
        error: tamis.yml:2:7: keep: `many` is not a whole number from 1 to 4294967295
        2 | keep: many
          |       ^
        ");
    insta::assert_snapshot!(error("version: 1\nstrategy: comit\n"), @r"
        error: tamis.yml:2:11: strategy: unknown strategy `comit`, expected auto, all, commit, memo, merge-dom, merge-parents, merge-history, rebase-dom, rebase-parents, rebase-history, cherry-parent, cherry-history, revert-parent, revert-history, thesis; did you mean `commit`?
        2 | strategy: comit
          |           ^
        ");
    insta::assert_snapshot!(error("version: 1\nroot: ../other\n"), @r"
        error: tamis.yml:2:7: root: `../other` leaves the folder of tamis.yml; give a sub-folder without `..`
        2 | root: ../other
          |       ^
        ");
    insta::assert_snapshot!(error("version: 1\nsuite:\n"), @r"
        error: tamis.yml:2:7: suite: the value is empty
        2 | suite:
          |       ^
        ");
    insta::assert_snapshot!(error("version: 1\ncommand: []\n"), @r"
        error: tamis.yml:2:10: command: the list is empty
        2 | command: []
          |          ^
        ");
    insta::assert_snapshot!(error("version: 1\nenv: CI\n"), @r#"
        error: tamis.yml:2:6: env: invalid type: string "CI", expected the key `ignore` with a list of names
        2 | env: CI
          |      ^
        "#);
    insta::assert_snapshot!(error("- version\n"), @r"
        error: tamis.yml:1:1: invalid type: sequence, expected keys with values, such as `version: 1`
        1 | - version
          | ^
        ");
    insta::assert_snapshot!(error("version: 1\nsuite: {a\n"), @r"
        error: tamis.yml:2:8: suite: invalid type: map, expected one value
        2 | suite: {a
          |        ^
        ");
}

#[test]
fn versions_are_checked_before_keys() {
    insta::assert_snapshot!(error("version: 2\nnew-key: 1\n"), @r"
        error: tamis.yml is written for version 2 of the configuration; this tamis reads version 1
        hint: update tamis
        ");
    insta::assert_snapshot!(error("version: zero\n"), @r"
        error: tamis.yml:1:10: version: the version `zero` does not exist, write 1
        1 | version: zero
          |          ^
        ");
    insta::assert_snapshot!(error("keep: 3\n"), @r"
        error: tamis.yml does not say its version
        hint: add the line `version: 1` at its beginning
        ");
}

#[test]
fn files_that_are_not_yaml_text_are_refused() {
    insta::assert_snapshot!(error(""), @r"
        error: tamis.yml is empty
        hint: write `version: 1`, or delete the file: it is optional
        ");
    insta::assert_snapshot!(error("# nothing\n---\n"), @r"
        error: tamis.yml is empty
        hint: write `version: 1`, or delete the file: it is optional
        ");
    insta::assert_snapshot!(error(b"version: 1\nsuite: caf\xe9\n"), @r"
        error: tamis.yml:2:11: byte 0xe9 is not UTF-8
        hint: save the file as UTF-8
        ");
    insta::assert_snapshot!(error(b"\xff\xfev\0e\0"), @r"
        error: tamis.yml is written in UTF-16
        hint: save it as UTF-8
        ");
    insta::assert_snapshot!(error("version: 1\nsuite: \u{1b}[2J\n"), @r"
        error: tamis.yml:2:8: there is a control character here
        hint: delete it; tamis reads YAML in UTF-8
        ");
    insta::assert_snapshot!(error("version: 1\n---\nversion: 1\n"), @r"
        error: tamis.yml holds more than one YAML document
        hint: remove the line `---` between them
        ");
}

#[test]
fn huge_files_and_folders_are_refused_unread() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(NAME);
    fs_err::write(&path, vec![b'#'; 10 << 20]).unwrap();
    let text = message(&read(&path).unwrap_err());
    assert!(text.contains("has 10485760 bytes"), "{text}");
    let text = message(&read(folder.path()).unwrap_err());
    assert!(text.contains("is not a file"), "{text}");
    let text = message(&read(&folder.path().join("none")).unwrap_err());
    assert!(
        text.starts_with("error: cannot read the configuration"),
        "{text}"
    );
}

#[test]
fn a_bomb_of_aliases_ends() {
    let mut text = "version: 1\na: &a [x, x, x, x, x, x, x, x]\n".to_owned();
    for (last, name) in ('a'..='p').zip('b'..='q') {
        let items = format!("*{last},").repeat(8);
        text.push_str(&format!("{name}: &{name} [{items}]\n"));
    }
    assert!(error(text).contains("repeat more than"));
}

proptest::proptest! {
    #[test]
    fn no_bytes_panic(bytes: Vec<u8>, text in "[a-z:\\-\\[\\]{}&*#|> \t\n'\"]{0,60}") {
        let _ = parse(&bytes, NAME);
        let _ = parse(text.as_bytes(), NAME);
    }
}

/// Short files that would fill the memory.
#[test]
fn aliases_that_repeat_much_are_refused() {
    let list = |item: &str, count: usize| vec![item; count].join(", ");
    let long = format!(
        "version: 1\nsuite: &a {}\nalways-run: [{}]\n",
        "x".repeat(10_000),
        list("*a", 5000)
    );
    let wide = format!(
        "version: 1\nnew: &a [{}]\nother: [{}]\n",
        list("1", 5000),
        list("*a", 5000)
    );
    for text in [&long, &wide] {
        let told = error(text);
        assert!(told.contains("repeat more than"), "{told}");
    }
    let few = "version: 1\nalways-run: &a [Makefile, setup.py]\nrun-all-when: *a\n";
    assert_eq!(
        parse(few.as_bytes(), NAME)
            .unwrap()
            .run_all_when
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn damaged_files_are_read_or_refused() {
    let all = "version: 1\nsuite: unit\nrunner: pytest\ncommand: [pytest, -q]\npython: .venv/bin/python\n\
            root: svc\nstore: cache\nstrategy: memo\nshared-store: git:up\nshared-label: py3\n\
            trust:\n  repository: o/r\n  refs: [main, 'release/*']\n  events: [push]\n  workflows: [ci.yml]\n\
            always-run: ['t.py::x[1]']\nrun-all-when: [Makefile, '**/*.c']\nlock-files: [uv.lock]\n\
            benign-state: ['a.py#_CACHE']\nkeep-together: [db, [a.py, b.py]]\nrun-all-every: 10\nenv:\n  ignore: [CI]\nkeep: 7\n";
    let reader = crate::fuzz::Reader {
        name: "configuration",
        seeds: vec![
            all.into(),
            b"\xef\xbb\xbf# x\n---\nversion: 1\n".to_vec(),
            b"version: 2\nnew: {a: [*]}".to_vec(),
        ],
        words: &[
            "\n",
            "\n  ",
            "- ",
            ": ",
            "&a ",
            "*a",
            "<<: ",
            "!!str ",
            "|\n  ",
            ">-\n",
            "[",
            "{",
            "---\n",
            "'",
            "\"",
            "#",
            "null",
            "~",
            "1e9",
            "0x",
            "\\u0000",
            "\u{85}",
            "\u{feff}",
            "\t",
            "version: ",
            "keep: ",
            "**/",
            "?(",
            "? ",
        ],
        mend: |_| {},
        read: &|bytes| match parse(bytes, NAME) {
            Ok(_) => "read".to_owned(),
            Err(error) => message(&error),
        },
    };
    reader.feed();
}

#[test]
fn nesting_without_end_is_refused() {
    let open = |what: &str, times: usize| format!("version: 1\ncommand: {}", what.repeat(times));
    let close = |what: &str, end: &str, times: usize| open(what, times) + &end.repeat(times);
    let steps = (0..300).map(|at| format!("{}a:\n", " ".repeat(at)));
    let quoted = "#']\n".to_owned() + &"[ #]\n".repeat(90_000);
    for text in [
        open("[", 400_000),
        open("{a: ", 200_000),
        open("[ {a: ", 100_000),
        open("[\"]\", ", 100_000),
        open("[']', ", 100_000),
        open("[ #]\n", 100_000),
        open("[ !<]> ", 100_000),
        open("\"\n\"\n]\"", 1) + &"[".repeat(400_000),
        format!("version: 1 # \r{}", "[".repeat(400_000)),
        format!("version: 1\n# \u{2028}{}", "[".repeat(400_000)),
        format!("version: 1\n{quoted}"),
        close("[", "]", 129),
        close("[", "]", 5000),
        format!("version: 1\nkeep-together:\n{}", "- ".repeat(100_000)),
        format!("version: 1\n{}", "? ".repeat(100_000)),
        "version: 1\n".to_owned() + &steps.collect::<String>(),
    ] {
        let error = parse(text.as_bytes(), "tamis.yml").unwrap_err();
        let start: String = text.chars().take(40).collect();
        let told = format!("{error:#} {:?}", error);
        assert!(told.contains("tamis.yml"), "{start:?}: {told}");
    }
    let error = parse(close("[", "]", 200).as_bytes(), "tamis.yml").unwrap_err();
    assert!(
        format!("{error:#}").contains("nests too deeply"),
        "{error:#}"
    );
}

#[test]
fn many_brackets_are_no_nesting() {
    let quoted = |item: &str| format!("version: 1\nalways-run:\n{}", item.repeat(5000));
    for text in [
        quoted("  - test_a.py::test_[a]\n"),
        quoted("  - \"test_a.py::test_[a\"\n"),
        quoted("  # one [of\n  - 'test_[a'\n"),
        format!(
            "version: 1\ncommand: [\"pytest\"]\nalways-run: [{}]",
            "'a[b]', ".repeat(1000)
        ),
    ] {
        parse(text.as_bytes(), "tamis.yml").unwrap();
    }
}
