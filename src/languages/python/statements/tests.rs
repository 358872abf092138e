use super::*;

fn all(text: &str) -> SourceText {
    tests_in(text.as_bytes()).unwrap()
}

fn one(text: &str) -> TestText {
    all(text).tests.remove(0)
}

/// Why a test with these lines is left alone.
fn alone(lines: &str) -> Option<String> {
    let body: String = lines.lines().map(|line| format!("    {line}\n")).collect();
    one(&format!("def test_a(x):\n{body}")).alone
}

#[test]
fn statements_have_their_comments_and_lines() {
    let text = "\
# about the class
class TestA:

    # about the test
    def test_a(
        self,
        box,  # of cards
    ) -> None:
        '''What it is.'''
        # first
        x = f(
            1,
        )  # behind

        assert self.y(x) == box
        # after

    def other(self): pass
";
    let found = all(text);
    let test = &found.tests[0];
    assert_eq!(test.qualified, "TestA.test_a");
    assert_eq!(test.instance.as_deref(), Some("self"));
    assert_eq!(test.parameters, ["box"]);
    assert_eq!(test.alone, None);
    assert_eq!(test.indent, "        ");
    assert!(text[test.whole.clone()].starts_with("    # about the test\n    def"));
    assert!(text[test.whole.clone()].ends_with("== box\n"));
    assert_eq!(&text[test.name.clone()], "test_a");
    assert_eq!(
        &text[..test.parameters_end],
        &text[..text.find(",  # of").unwrap()]
    );
    let lines: Vec<&str> = test
        .statements
        .iter()
        .map(|one| &text[one.lines.clone()])
        .collect();
    assert_eq!(lines[0], "        '''What it is.'''\n");
    assert_eq!(
        lines[1],
        "        # first\n        x = f(\n            1,\n        )  # behind\n"
    );
    assert_eq!(lines[2], "\n        assert self.y(x) == box\n");
    let lines: Vec<(u32, u32)> = test
        .statements
        .iter()
        .map(|one| (one.first_line, one.last_line))
        .collect();
    assert_eq!(lines, [(9, 9), (11, 13), (15, 15)]);
    let part = &test.statements[2].part;
    assert_eq!(part.used, ["self.y", "x", "box"]);
    assert_eq!(part.shape, "assert self.y($1) == $2");
    assert_eq!(part.role, Role::Assertion);
    assert_eq!(test.statements[0].part.role, Role::Silent);
    assert_eq!(test.statements[1].part.free, ["f".to_owned()].into());
}

#[test]
fn places_are_bytes_of_the_file() {
    let text = "\u{feff}def test_a():\r\n\tä = 1\r\n\r\n\tassert ä\n\tb = 2";
    let test = one(text);
    let lines: Vec<&str> = test
        .statements
        .iter()
        .map(|one| &text[one.lines.clone()])
        .collect();
    assert_eq!(lines, ["\tä = 1\r\n", "\r\n\tassert ä\n", "\tb = 2"]);
    assert_eq!(&text[test.statements[1].names[0].0.clone()], "ä");
    assert_eq!(&text[test.whole.clone()], &text[3..]);
    assert!(tests_in(b"# coding: latin-1\ndef test_a():\n    '\xe9'\n").is_err());
    assert!(tests_in(b"def test_a(:\n").is_err());
}

#[test]
fn names_are_bound_or_free() {
    let test =
        one("def test_a(x):\n    import a.b as c, d.e\n    y, z[x] = c(w), [v for v in d]\n");
    let [first, second] = &test.statements[..] else {
        panic!("{test:?}");
    };
    assert_eq!(first.part.used, ["c", "d"]);
    assert_eq!(first.part.fixed, ["c".to_owned(), "d".to_owned()].into());
    assert_eq!(second.part.used, ["c", "d", "y", "x"]);
    assert_eq!(second.part.defined, ["y".to_owned()].into());
    let free: Vec<&str> = second.part.free.iter().map(String::as_str).collect();
    assert_eq!(free, ["w", "z"]);
}

#[test]
fn what_may_check_something_is_an_assertion() {
    let role = |line: &str| {
        one(&format!("def test_a(x):\n    {line}\n")).statements[0]
            .part
            .role
    };
    for line in [
        "y = f(x)",
        "f(x)",
        "x.y = 1",
        "y += f(x)",
        "y: int = 1",
        "checked = f(x)",
        "del x",
    ] {
        assert_eq!(role(line), Role::Action, "{line}");
    }
    for line in [
        "assert x",
        "x.assert_called()",
        "y = check(x)",
        "with f(): f()",
        "if x: f()",
        "for y in x: f()",
        "x.should.be(1)",
        "x",
        "x == 1",
        "y = x.verify()",
        "while f(): f()",
        "try:\n        f()\n    except E as e: f()",
    ] {
        assert_eq!(role(line), Role::Assertion, "{line}");
    }
    for line in ["'''text'''", "1", "y: int"] {
        assert_eq!(role(line), Role::Silent, "{line}");
    }
}

#[test]
fn what_is_not_followed_is_left_alone() {
    for (lines, why) in [
        ("return 1", "it can return early"),
        ("if x: return", "it can return early"),
        ("pytest.skip()", "it can end early: it uses `skip`"),
        (
            "with self.subTest(): f()",
            "it can end early: it uses `subTest`",
        ),
        ("assert x is y", "it compares identities"),
        ("y = locals()", "it uses `locals`"),
        ("self.assertIs(x, y)", "it uses `assertIs`"),
        (
            "y = lambda: 1",
            "it defines functions or classes of its own",
        ),
        (
            "class A: pass",
            "it defines functions or classes of its own",
        ),
        ("f(f'{x=}')", "its text shows names of variables"),
        (
            "y = [x for x in f()]",
            "an inner scope has its own variable x",
        ),
        ("global y\ny = 1", "it binds names outside of itself"),
        ("yield x", "it is asynchronous or a generator"),
        ("a = 1; b = 2", "several of its statements share a line"),
        ("raise x", "it raises an exception itself"),
        (
            "match x:\n    case y: f()",
            "it has a statement whose names are not followed",
        ),
    ] {
        assert_eq!(alone(lines).as_deref(), Some(why), "{lines}");
    }
    for lines in [
        "assert x is None",
        "assert True is not x",
        "y = [z for z in x]",
        "f(f'{x}')",
    ] {
        assert_eq!(alone(lines), None, "{lines}");
    }
    let of = |text: &str| one(text).alone;
    assert_eq!(
        of("@a\ndef test_a(): \n    f()\n").as_deref(),
        Some("it is decorated")
    );
    assert_eq!(
        of("async def test_a():\n    f()\n").as_deref(),
        Some("it is asynchronous")
    );
    assert_eq!(
        of("def test_a(x=1):\n    f()\n").as_deref(),
        Some("its parameters are not plain ones")
    );
    assert_eq!(
        of("def test_a(): f()\n").as_deref(),
        Some("its body is on the line of its name")
    );
    let twice = all("def test_a():\n    f()\ndef test_a():\n    f()\n");
    let why = "its file defines it twice";
    assert!(
        twice
            .tests
            .iter()
            .all(|one| one.alone.as_deref() == Some(why))
    );
    assert_eq!(
        of("class A:\n    def test_a(self):\n        self.x = 1\n").as_deref(),
        Some("it binds attributes of its instance")
    );
}
