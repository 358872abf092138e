//! Edits, and the tests that run after each. The truth is what `go test` finds.

use std::collections::BTreeSet;

use super::harness::{Module, Outcomes, has_go};
use super::module::MODULE;

/// An edit of the module.
enum Edit {
    /// Replaces the only occurrence of a text in a file.
    Replace(&'static str, &'static str, &'static str),
    Write(&'static str, &'static str),
    /// A command of a shell.
    Shell(&'static str),
    Env(&'static str, &'static str),
}

use Edit::{Env, Replace, Shell, Write};

/// The tests of a package, and groups of them.
const CALC: [&str; 12] = [
    "calc.TestAdd",
    "calc.TestSub",
    "calc.TestLook",
    "calc.TestHooked",
    "calc.TestGrow",
    "calc.TestMax",
    "calc.TestDescribe",
    "calc.TestLate",
    "calc.FuzzAdd",
    "calc.ExampleAdd",
    "calc.TestChoose",
    "calc.TestDeferred",
];
const FILES: [&str; 9] = [
    "files.TestBanner",
    "files.TestPages",
    "files.TestGolden",
    "files.TestAbsent",
    "files.TestNames",
    "files.TestScript",
    "files.TestTemp",
    "files.TestVariable",
    "files.TestAgain",
];
const APP: [&str; 2] = ["app.TestReady", "app.TestTotal"];

/// What an edit is, and names of tests, where `calc`, `files` and `app` stand for all of theirs.
type Row = (&'static str, Edit, &'static str);

fn expand(names: &str) -> BTreeSet<String> {
    let mut tests = BTreeSet::new();
    for name in names.split_whitespace() {
        match name {
            "calc" => tests.extend(CALC.map(str::to_owned)),
            "files" => tests.extend(FILES.map(str::to_owned)),
            "app" => tests.extend(APP.map(str::to_owned)),
            one => {
                tests.insert(one.to_owned());
            }
        }
    }
    tests
}

/// Makes each edit on its own, and checks which tests run and how they end.
fn check(rows: &[Row]) {
    if !has_go() {
        return;
    }
    let mut module = Module::new(MODULE);
    let first = module.run();
    assert_eq!(first.code, 0, "{}", first.told);
    let all = expand("calc files app");
    let ran: BTreeSet<String> = first.outcomes.keys().cloned().collect();
    assert_eq!(ran, all, "{}", first.told);
    // What a run of the first state finds is what is known of the others.
    let store = "rm -rf ../store && cp -r .tamis ../store";
    module.sh(store);
    let mut wrong = Vec::new();
    for (what, edit, tests) in rows {
        module.restore();
        module.sh("rm -rf .tamis && cp -r ../store .tamis");
        module.env.clear();
        match edit {
            Replace(path, from, to) => module.replace(path, from, to),
            Write(path, text) => module.write(path, text),
            Shell(script) => module.sh(script),
            Env(name, value) => {
                module.env.insert((*name).to_owned(), (*value).to_owned());
            }
        }
        let ran = module.run();
        let (truth, status) = module.plain();
        wrong.extend(differences(what, &ran.outcomes, tests, &truth, &first.outcomes));
        if (ran.code == 0) != (status == 0) {
            wrong.push(format!("{what}: {} and not {status}\n{}", ran.code, ran.told));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wrong about the tests that ran.
fn differences(
    what: &str,
    ran: &Outcomes,
    tests: &str,
    truth: &Outcomes,
    before: &Outcomes,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let wanted = expand(tests);
    let names: BTreeSet<String> = ran.keys().cloned().collect();
    let more: Vec<&String> = names.difference(&wanted).collect();
    let fewer: Vec<&String> = wanted.difference(&names).collect();
    if !more.is_empty() || !fewer.is_empty() {
        wrong.push(format!("{what}: ran besides {more:?}, did not run {fewer:?}"));
    }
    for (test, outcome) in truth {
        let told = ran.get(test).or_else(|| before.get(test));
        if told != Some(outcome) {
            wrong.push(format!("{what}: MISSED: {test} is {outcome}, not {told:?}"));
        }
    }
    wrong
}

const ADDED: &str = "calc.TestAdd calc.FuzzAdd calc.ExampleAdd calc.TestLate app";

#[test]
fn bodies() {
    check(&[
        ("nothing", Shell("true"), ""),
        ("a file that nobody reads", Write("README.md", "x\n"), ""),
        ("a comment", Replace("calc/calc.go", "// Add adds.", "// Add\n// it."), ""),
        (
            "a comment in a body",
            Replace("calc/calc.go", "return a + b", "return a + b // here\n\n"),
            "",
        ),
        ("formatting", Shell("printf '\\n\\n' >> calc/calc.go"), ""),
        ("a body", Replace("calc/calc.go", "return a + b", "return a + b + 1"), ADDED),
        (
            "a body with the same result",
            Replace("calc/calc.go", "return a + b", "return b + a"),
            ADDED,
        ),
        (
            "a body of one test",
            Replace("calc/calc.go", "return a - b", "return b - a"),
            // What runs around a group is not counted: all that is linked counts there.
            "calc.TestSub calc.TestLate app",
        ),
        (
            "a function without a statement",
            Replace("calc/calc.go", "func hook() {}", "func hook() { panic(1) }"),
            "calc.TestHooked app",
        ),
        (
            "a function that nobody calls",
            Replace("calc/calc.go", "return 3", "return 4"),
            "app",
        ),
        (
            "a function that is only named",
            Replace("calc/calc.go", "return n * 100", "return n * 101"),
            "app",
        ),
        (
            "a method",
            Replace("calc/calc.go", "s.Side += by", "s.Side -= by"),
            "calc.TestGrow app",
        ),
        (
            "a method that is called through an interface",
            Replace("calc/calc.go", "return s.Side * s.Side", "return s.Side"),
            "calc.TestGrow app",
        ),
        (
            "a generic function",
            Replace("calc/calc.go", "if a > b", "if a < b"),
            "calc.TestMax app",
        ),
        (
            "a function that initialises a variable",
            Replace("calc/calc.go", "return n * 2", "return n * 3"),
            "calc app",
        ),
        (
            "what is deferred",
            Replace("calc/calc.go", "n = Sub(n, 1)", "n = Sub(n, 2)"),
            "calc.TestLate app",
        ),
        (
            "a goroutine",
            Replace("calc/calc.go", "done <- Add(1, 1)", "done <- Add(1, 2)"),
            "calc.TestLate app",
        ),
        (
            "a body of another package",
            Replace("app/app.go", "calc.Add(calc.Unit, 1)", "calc.Add(calc.Unit, 2)"),
            "app",
        ),
        (
            "what runs after the tests",
            Replace("app/app.go", "return nil", "panic(1)"),
            "app",
        ),
        ("a package without tests", Replace("plain/plain.go", "{}", "{ println() }"), ""),
    ]);
}

#[test]
fn declarations() {
    check(&[
        ("a constant", Replace("calc/calc.go", "const Unit = 1", "const Unit = 2"), "calc app"),
        (
            "a type",
            Replace("calc/calc.go", "struct{ Side int }", "struct{ Side, Other int }"),
            // It does not compile: nothing runs, and all is told.
            "",
        ),
        ("a variable", Replace("calc/calc.go", "\"one\": 1", "\"one\": 2"), "calc app"),
        (
            "a function in a variable",
            Replace("calc/calc.go", "return 5", "return 6"),
            "calc app",
        ),
        ("init", Replace("calc/calc.go", "[\"init\"] = 7", "[\"init\"] = 8"), "calc app"),
        (
            "a second init",
            Write("calc/more.go", "package calc\n\nfunc init() { table[\"one\"] = 5 }\n"),
            "calc app",
        ),
        (
            "a new method",
            Shell("echo 'func (s Square) String() string { return \"square\" }' >> calc/calc.go"),
            "calc app",
        ),
        (
            "a new function",
            Shell("echo 'func More() int { return 1 }' >> calc/calc.go"),
            "",
        ),
        (
            "a new function with the name of a built-in one",
            Shell("echo 'func max(a, b int) int { return 0 }' >> calc/calc.go"),
            "calc app",
        ),
        (
            "the signature of a function that is only named",
            Replace("calc/calc.go", "func small(n int) int", "func small(n int64) int64"),
            "calc app",
        ),
        (
            "a function that goes",
            Replace("calc/calc.go", "func Spare() int { return 3 }\n", ""),
            "calc app",
        ),
        (
            "an import",
            Replace("calc/calc.go", "import \"fmt\"", "import (\n\t\"fmt\"\n\t_ \"strings\"\n)"),
            "calc app",
        ),
        (
            "a build tag",
            Shell("sed -i '1i //go:build !linux\\n' calc/more.go 2>/dev/null || sed -i '1i //go:build linux\\n' calc/calc.go"),
            "calc app",
        ),
        (
            "a directive",
            Replace("calc/calc.go", "func Sub", "//go:noinline\nfunc Sub"),
            "calc app",
        ),
        (
            "a function in another file",
            Shell("sed -i '/^func Spare/d' calc/calc.go && printf 'package calc\\n\\nfunc Spare() int { return 3 }\\n' > calc/spare.go"),
            "calc app",
        ),
        ("the language", Replace("go.mod", "go 1.22", "go 1.23"), "calc files app"),
        ("a comment in go.mod", Shell("echo '// x' >> go.mod"), "calc files app"),
        ("flags of the build", Env("GOFLAGS", "-mod=mod -tags=some"), "calc files app"),
        ("a setting of go", Env("CGO_ENABLED", "0"), "calc files app"),
        (
            "a compile error in what nobody calls",
            Replace("calc/calc.go", "return 3", "return \"\""),
            "",
        ),
        (
            "a compile error in a test",
            Replace("calc/outer_test.go", "calc.Deferred() != 5", "calc.Deferred() != \"\""),
            "",
        ),
        (
            "what go vet finds",
            Replace("calc/calc_test.go", "t.Fatal(\"wrong\")\n\t}\n}\n\nfunc TestLook", "t.Fatalf(\"%d\", \"wrong\")\n\t}\n}\n\nfunc TestLook"),
            "",
        ),
    ]);
}

#[test]
fn tests() {
    check(&[
        (
            "a test",
            Replace("calc/calc_test.go", "if Sub(3, 2) != 1", "if Sub(3, 2) != 2"),
            "calc.TestSub",
        ),
        (
            "a helper",
            Replace("calc/calc_test.go", "if got != want {", "if got == want {"),
            "calc.TestAdd",
        ),
        (
            "a constant of tests",
            Replace("calc/calc_test.go", "const three = 3", "const three = 4"),
            "calc",
        ),
        (
            "a sub-test",
            Replace("calc/calc_test.go", "{{\"a\"}, {\"b\"}}", "{{\"a\"}}"),
            "calc.TestMax",
        ),
        (
            "a new test",
            Shell("printf 'func TestNew(t *testing.T) { t.Fatal(1) }\\n' >> calc/calc_test.go"),
            "calc.TestNew",
        ),
        (
            "a new file of tests",
            Write(
                "calc/new_test.go",
                "package calc\n\nimport \"testing\"\n\nfunc TestNew(t *testing.T) {}\n",
            ),
            "calc.TestNew calc",
        ),
        (
            "a new package",
            Write(
                "fresh/fresh_test.go",
                "package fresh\n\nimport \"testing\"\n\nfunc TestNew(t *testing.T) { t.Fatal() }\n",
            ),
            "fresh.TestNew",
        ),
        (
            "a test that goes",
            Replace("calc/calc_test.go", "func TestDescribe", "func testDescribe"),
            "",
        ),
        (
            "a new name of a test",
            Replace("calc/calc_test.go", "func TestDescribe", "func TestDescription"),
            "calc.TestDescription",
        ),
        (
            "an expected output",
            Replace("calc/outer_test.go", "// Output: 4", "// Output: 5"),
            "calc.ExampleAdd",
        ),
        (
            "an example that becomes a test",
            Replace("calc/outer_test.go", "calc.Sub(2, 2))\n", "calc.Sub(2, 2))\n\t// Output: 1\n"),
            "calc.ExampleSub",
        ),
        (
            "a seed",
            Replace("calc/calc_test.go", "f.Add(1)", "f.Add(2)"),
            "calc.FuzzAdd",
        ),
        (
            "a seed in a file",
            Write("calc/testdata/fuzz/FuzzAdd/other", "go test fuzz v1\nint(5)\n"),
            "calc.FuzzAdd",
        ),
        (
            "a benchmark",
            Replace("calc/calc_test.go", "b *testing.B) {}", "b *testing.B) { b.Skip() }"),
            "",
        ),
        (
            "what runs around tests",
            Replace("app/app_test.go", "Ready = true", "Ready = false"),
            "app",
        ),
    ]);
}

#[test]
fn files() {
    check(&[
        ("a golden file", Write("files/testdata/golden.txt", "other\n"), "files.TestGolden files.TestAgain"),
        ("a file that appears", Write("files/testdata/absent.txt", "x\n"), "files.TestAbsent"),
        ("a name in a folder", Write("files/testdata/many/two", "x\n"), "files.TestNames"),
        ("a file that no test reads", Write("files/testdata/unused.txt", "x\n"), ""),
        ("a script", Write("files/testdata/script.sh", "echo other\n"), "files.TestScript"),
        ("what a script reads", Write("files/testdata/by_script.txt", "x\n"), "files.TestScript"),
        ("a file that is embedded", Write("files/banner.txt", "bye\n"), "files"),
        ("a new file that is embedded", Write("files/pages/b.html", "x\n"), "files"),
        ("a variable", Env("FLAVOUR", "sour"), "calc files app"),
        (
            "a source that git ignores",
            Write("calc/made.gen.go", "package calc\n\nfunc init() { table[\"one\"] = 9 }\n"),
            "calc app",
        ),
        (
            "a module around a package",
            Write("files/go.mod", "module example.com/demo/files\n\ngo 1.22\n"),
            "",
        ),
        (
            "what a function of files does",
            Replace("files/files.go", "return len(entries)", "return 0"),
            "files.TestNames",
        ),
        (
            "what a process of the same program does",
            Replace("files/files.go", "return strings.TrimSpace(string(text))\n}\n\nfunc Names", "return string(text)\n}\n\nfunc Names"),
            "files.TestGolden files.TestTemp files.TestAgain",
        ),
    ]);
}
