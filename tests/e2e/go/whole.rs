//! What people see: output, status, other commands.

use super::harness::{has_go, module};
use super::module::MODULE;
use crate::harness::told;

#[test]
fn a_module_needs_no_configuration() {
    if !has_go() {
        return;
    }
    let module = module(MODULE);
    let first = module.tamis(&["run"]);
    let text = told(&first);
    assert!(first.status.success(), "{text}");
    for line in [
        "ok  \texample.com/demo/calc\t",
        "?   \texample.com/demo/plain\t[no test files]",
        "23 tests ran",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(!text.contains("coverage"), "{text}");
    let second = told(&module.tamis(&["run"]));
    assert!(second.contains("nothing selected of 23 tests"), "{second}");

    module.replace("calc/calc.go", "return a - b", "return b - a");
    let why = told(&module.tamis(&["why", "example.com/demo/calc.TestSub"]));
    assert!(why.contains("code calc/calc.go#Sub"), "{why}");
    assert!(why.contains("(changed), which ran\n"), "{why}");
    let third = module.tamis(&["run", "--", "go", "test", "-v", "./..."]);
    let text = told(&third);
    assert_eq!(third.status.code(), Some(1), "{text}");
    for line in [
        "--- FAIL: TestSub",
        "FAIL\texample.com/demo/calc\t",
        "--- PASS: TestReady",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(!text.contains("TestLook"), "{text}");

    let doctor = told(&module.tamis(&["doctor"]));
    assert!(doctor.contains("go1."), "{doctor}");
    let select = module.tamis(&["select", "--out", "sel"]);
    let text = told(&select);
    assert!(text.contains("example.com/demo/calc.TestSub"), "{text}");
    let read = |name: &str| fs_err::read_to_string(module.root().join("sel").join(name)).unwrap();
    assert_eq!(read("packages.txt"), "example.com/demo/calc\n");
    let run = read("go-run.txt");
    assert!(
        run.contains("example.com/demo/calc\t^(TestLate|TestSub)$\n"),
        "{run}"
    );
    let skip = read("go-skip.txt");
    assert!(
        skip.contains("TestLook") && !skip.contains("TestSub"),
        "{skip}"
    );
}

#[test]
fn init_knows_go() {
    if !has_go() {
        return;
    }
    let module = module(MODULE);
    let done = module.tamis(&["init"]);
    assert!(done.status.success(), "{}", told(&done));
    let file = fs_err::read_to_string(module.root().join("tamis.yml")).unwrap();
    assert!(file.contains("runner: go"), "{file}");
}

#[test]
fn json_is_that_of_go_test() {
    if !has_go() {
        return;
    }
    let module = module(MODULE);
    let done = module.tamis(&["run", "--", "go", "test", "-json", "./..."]);
    assert!(done.status.success(), "{}", told(&done));
    let text = String::from_utf8_lossy(&done.stdout);
    let mut passed = 0;
    for line in text.lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        let is_test = event["Test"]
            .as_str()
            .is_some_and(|test| !test.contains('/'));
        passed += usize::from(event["Action"] == "pass" && is_test);
    }
    assert_eq!(passed, 23);
}

#[test]
fn what_chooses_tests_itself_is_left_alone() {
    if !has_go() {
        return;
    }
    let module = module(MODULE);
    let done = module.tamis(&["run", "--", "go", "test", "-run", "TestSub", "./calc"]);
    let text = told(&done);
    assert!(
        text.contains("with -run `go test` itself chooses what runs"),
        "{text}"
    );
    assert!(text.contains("ok  \texample.com/demo/calc"), "{text}");
}

#[test]
fn a_panic_and_a_failure_are_told_as_ever() {
    if !has_go() {
        return;
    }
    let module = module(MODULE);
    module.replace(
        "calc/calc.go",
        "func hook() {}",
        "func hook() { panic(\"hooked\") }",
    );
    let ran = module.run();
    assert_eq!(ran.code, 1, "{}", ran.told);
    assert_eq!(ran.outcomes["calc.TestHooked"], "failed");
    assert_eq!(ran.outcomes["calc.TestSub"], "passed");
    assert!(ran.told.contains("panic: hooked"), "{}", ran.told);
    // What failed runs again.
    module.run().are(&["calc.TestHooked"]);
    module.replace(
        "calc/calc.go",
        "func hook() { panic(\"hooked\") }",
        "func hook() {}",
    );
    module
        .run()
        .are(&["calc.TestHooked", "app.TestReady", "app.TestTotal"]);
}

#[test]
fn a_workspace_is_one_project() {
    if !has_go() {
        return;
    }
    let module = module(
        r#"
-- go.work --
go 1.22

use (
	./one
	./two
)
-- one/go.mod --
module example.com/demo/one

go 1.22
-- one/one.go --
package one

func One() int { return 1 }

func Other() int { return 3 }
-- one/one_test.go --
package one

import "testing"

func TestOne(t *testing.T) {
	if One() != 1 {
		t.Fatal("wrong")
	}
}
-- two/go.mod --
module example.com/demo/two

go 1.22

require example.com/demo/one v0.0.0
-- two/two_test.go --
package two

import (
	"testing"

	"example.com/demo/one"
)

func TestTwo(t *testing.T) {
	if one.One()+one.Other() != 4 {
		t.Fatal("wrong")
	}
}
"#,
    );
    module.sh("true");
    let module = {
        let mut module = module;
        module.env.insert("GOFLAGS".to_owned(), String::new());
        module
    };
    let all = ["one.TestOne", "two.TestTwo"];
    module.run().are(&all);
    module.run().are(&[]);
    module.replace("one/one.go", "return 3", "return 2 + 1");
    module.run().are(&["two.TestTwo"]);
    module.replace("one/one.go", "return 1", "return 2 - 1");
    module.run().are(&all);
    module.replace("go.work", "go 1.22", "go 1.23");
    module.run().are(&all);
}

#[test]
fn without_go_it_says_what_to_do() {
    if !has_go() {
        return;
    }
    let mut module = module(MODULE);
    // git and a shell, and no more.
    let bin = module.root().join("../home");
    for program in ["git", "sh"] {
        module.sh(&format!("ln -s $(command -v {program}) ../home/{program}"));
    }
    let path = bin.to_str().unwrap().to_owned();
    module.env.insert("PATH".to_owned(), path);
    let done = module.tamis(&["run"]);
    let text = told(&done);
    assert!(!done.status.success(), "{text}");
    assert!(text.contains("there is no `go` in PATH"), "{text}");
    let doctor = told(&module.tamis(&["doctor"]));
    assert!(doctor.contains("cannot start `go env`"), "{doctor}");
}

#[test]
fn tests_of_one_name_run_together() {
    if !has_go() {
        return;
    }
    let module = module(
        r#"
-- go.mod --
module example.com/demo

go 1.22
-- p/p.go --
package p

func Inner() int { return 1 }

func Outer() int { return 2 }
-- p/a_test.go --
package p

import "testing"

func TestX(t *testing.T) { Inner() }

func TestY(t *testing.T) {}
-- p/b_test.go --
package p_test

import (
	"testing"

	"example.com/demo/p"
)

func TestX(t *testing.T) {
	if p.Outer() != 2 {
		t.Fatal("wrong")
	}
}
"#,
    );
    module.run().are(&["p.TestX", "p.TestY"]);
    module.replace("p/p.go", "return 1", "return 1 + 0");
    module.run().are(&["p.TestX"]);
    module.replace("p/b_test.go", "!= 2", "!= 3");
    let ran = module.run();
    ran.are(&["p.TestX"]);
    assert_eq!(ran.outcomes["p.TestX"], "failed");
}

#[test]
fn a_test_that_hangs_is_ended() {
    if !has_go() {
        return;
    }
    let module = module(MODULE);
    module.replace(
        "calc/calc.go",
        "func hook() {}",
        "func hook() { select {} }",
    );
    let words = ["--", "go", "test", "-timeout=2s", "./calc"];
    let ran = module.run_with(&words);
    assert_eq!(ran.outcomes["calc.TestHooked"], "failed", "{}", ran.told);
    assert_eq!(ran.outcomes["calc.TestSub"], "passed");
}

#[test]
fn who_leaves_a_file_brings_those_behind() {
    if !has_go() {
        return;
    }
    let module = module(
        r#"
-- go.mod --
module example.com/demo

go 1.22
-- p/p_test.go --
package p

import (
	"os"
	"testing"
)

func TestA(t *testing.T) {}

func TestB(t *testing.T) {
	if _, err := os.Stat("left.txt"); err == nil {
		t.Fatal("there is one")
	}
}

func TestC(t *testing.T) {}
"#,
    );
    let all = ["p.TestA", "p.TestB", "p.TestC"];
    module.run().are(&all);
    module.run().are(&[]);
    let writes = "func TestA(t *testing.T) { os.WriteFile(\"left.txt\", nil, 0o600) }";
    module.replace("p/p_test.go", "func TestA(t *testing.T) {}", writes);
    let ran = module.run();
    ran.are(&all);
    assert_eq!(ran.outcomes["p.TestB"], "failed");
}
