//! Edits outside of functions, and of what builds them.

use super::check;
use crate::harness::Edit::{Env, Replace, Shell, Write};
use crate::harness::Row;

const DECLARATIONS: &[Row] = &[
    (
        "a constant",
        Replace("calc/calc.go", "const Unit = 1", "const Unit = 2"),
        "calc app",
    ),
    (
        "a type",
        Replace(
            "calc/calc.go",
            "struct{ Side int }",
            "struct{ Side, Other int }",
        ),
        // The tests do not compile.
        "app",
    ),
    (
        "a variable",
        Replace("calc/calc.go", "\"one\": 1", "\"one\": 2"),
        "calc app",
    ),
    (
        "a function in a variable",
        Replace("calc/calc.go", "return 5", "return 6"),
        "calc app",
    ),
    (
        "init",
        Replace("calc/calc.go", "[\"init\"] = 7", "[\"init\"] = 8"),
        "calc app",
    ),
    (
        "a second init",
        Write(
            "calc/more.go",
            "package calc\n\nfunc init() { table[\"one\"] = 5 }\n",
        ),
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
        "app",
    ),
    (
        "a new type with a method",
        Shell(
            "printf 'type Ring struct{}\\n\\nfunc (Ring) Area() int { return 1 }\\n' >> calc/calc.go",
        ),
        "app",
    ),
    (
        "new constants and a plain variable",
        Shell(
            "printf 'const (\\n\\tA = 1\\n\\tB = 2\\n)\\n\\nvar names = []string{\"a\"}\\n' >> calc/calc.go",
        ),
        "app",
    ),
    (
        "a variable that calls something",
        Shell("echo 'var again = double(2)' >> calc/calc.go"),
        "calc app",
    ),
    (
        "a new function with the name of a built-in one",
        Shell("echo 'func max(a, b int) int { return 0 }' >> calc/calc.go"),
        "calc app",
    ),
    (
        "the signature of a function that is only named",
        Replace(
            "calc/calc.go",
            "func small(n int) int",
            "func small(n int64) int64",
        ),
        "calc app",
    ),
    (
        "a function that goes",
        Replace("calc/calc.go", "func Spare() int { return 3 }\n", ""),
        "calc app",
    ),
    (
        "an import",
        Replace(
            "calc/calc.go",
            "import \"fmt\"",
            "import (\n\t\"fmt\"\n\t_ \"strings\"\n)",
        ),
        "calc app",
    ),
    (
        "a build tag",
        Shell(
            "sed -i '1i //go:build !linux\\n' calc/more.go 2>/dev/null || sed -i '1i //go:build linux\\n' calc/calc.go",
        ),
        "calc app",
    ),
    (
        "a directive",
        Replace("calc/calc.go", "func Sub", "//go:noinline\nfunc Sub"),
        "calc app",
    ),
    (
        "a function in another file",
        Shell(
            "sed -i '/^func Spare/d' calc/calc.go && printf 'package calc\\n\\nfunc Spare() int { return 3 }\\n' > calc/spare.go",
        ),
        "calc app",
    ),
    (
        "the language",
        Replace("go.mod", "go 1.22", "go 1.23"),
        "calc files app",
    ),
    (
        "a comment in go.mod",
        Shell("echo '// x' >> go.mod"),
        "calc files app",
    ),
    (
        "flags of the build",
        Env("GOFLAGS", "-mod=mod -tags=some"),
        "calc files app",
    ),
    ("a setting of go", Env("CGO_ENABLED", "0"), "calc files app"),
    (
        "a compile error in what nobody calls",
        Replace("calc/calc.go", "return 3", "return \"\""),
        "",
    ),
    (
        "a compile error in a test",
        Replace(
            "calc/outer_test.go",
            "calc.Deferred() != 5",
            "calc.Deferred() != \"\"",
        ),
        "",
    ),
    (
        "what go vet finds",
        Replace(
            "calc/calc_test.go",
            "t.Fatal(\"wrong\")\n\t}\n}\n\nfunc TestLook",
            "t.Fatalf(\"%d\", \"wrong\")\n\t}\n}\n\nfunc TestLook",
        ),
        "",
    ),
];

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn declarations() {
    check(DECLARATIONS);
}
