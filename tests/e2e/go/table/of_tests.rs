//! Edits of tests.

use super::check;
use crate::harness::Edit::{Replace, Shell, Write};
use crate::harness::Row;

const TESTS: &[Row] = &[
    (
        "a test",
        Replace(
            "calc/calc_test.go",
            "if Sub(3, 2) != 1",
            "if Sub(3, 2) != 2",
        ),
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
        Replace(
            "calc/calc_test.go",
            "func TestDescribe",
            "func testDescribe",
        ),
        "",
    ),
    (
        "a new name of a test",
        Replace(
            "calc/calc_test.go",
            "func TestDescribe",
            "func TestDescription",
        ),
        "calc.TestDescription",
    ),
    (
        "an expected output",
        Replace("calc/outer_test.go", "// Output: 4", "// Output: 5"),
        "calc.ExampleAdd",
    ),
    (
        "an example that becomes a test",
        Replace(
            "calc/outer_test.go",
            "calc.Sub(2, 2))\n",
            "calc.Sub(2, 2))\n\t// Output: 1\n",
        ),
        "calc.ExampleSub",
    ),
    (
        "a seed",
        Replace("calc/calc_test.go", "f.Add(1)", "f.Add(2)"),
        "calc.FuzzAdd",
    ),
    (
        "a seed in a file",
        Write(
            "calc/testdata/fuzz/FuzzAdd/other",
            "go test fuzz v1\nint(5)\n",
        ),
        "calc.FuzzAdd",
    ),
    (
        "a benchmark",
        Replace(
            "calc/calc_test.go",
            "b *testing.B) {}",
            "b *testing.B) { b.Skip() }",
        ),
        "",
    ),
    (
        "what runs around tests",
        Replace("app/app_test.go", "Ready = true", "Ready = false"),
        "app",
    ),
];

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn tests() {
    check(TESTS);
}
