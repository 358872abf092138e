//! What people see: output, status, other commands; and what a build can be like.

use super::harness::{has_cmake, project};
use super::project::PROJECT;
use crate::harness::told;

/// One program, and two tests of it.
const SMALL: &str = r#"
-- CMakeLists.txt --
cmake_minimum_required(VERSION 3.16)
project(small C)
enable_testing()
add_executable(check check.c)
add_test(NAME good COMMAND check)
add_test(NAME other COMMAND sh -c "echo said; exit 0")
-- check.c --
int main(void) { return 0; }
"#;

#[test]
fn a_project_needs_no_configuration_and_no_build() {
    if !has_cmake() {
        return;
    }
    let shop = project(PROJECT);
    let first = shop.tamis(&["run"]);
    let text = told(&first);
    assert!(first.status.success(), "{text}");
    for line in ["Test  #1: adds", "***Not Run (Disabled)", "24 tests ran"] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let second = told(&shop.tamis(&["run"]));
    assert!(second.contains("nothing selected of 24 tests"), "{second}");

    shop.replace("src/sub.c", "a - b", "b - a");
    let third = shop.tamis(&["run"]);
    let text = told(&third);
    assert_eq!(third.status.code(), Some(8), "{text}");
    for line in ["23 tests left out", "subs (Failed)", "1 failed"] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let why = told(&shop.tamis(&["why", "subs"]));
    assert!(why.contains("failed last time"), "{why}");
    shop.replace("src/sub.c", "b - a", "a - b");
    // As it was, it passed.
    shop.run().are(&[]);
    // Whoever looks for the log of `ctest` finds it where it always is.
    assert!(
        shop.root()
            .join("build/Testing/Temporary/LastTest.log")
            .is_file()
    );

    let doctor = told(&shop.tamis(&["doctor"]));
    assert!(doctor.contains("CMake 3."), "{doctor}");
}

#[test]
fn init_knows_ctest() {
    if !has_cmake() {
        return;
    }
    let shop = project(SMALL);
    let done = shop.tamis(&["init"]);
    assert!(done.status.success(), "{}", told(&done));
    let file = fs_err::read_to_string(shop.root().join("tamis.yml")).unwrap();
    assert!(file.contains("runner: ctest"), "{file}");
}

#[test]
fn what_does_not_compile_runs_nothing() {
    if !has_cmake() {
        return;
    }
    let shop = project(SMALL);
    shop.run().are(&["good", "other"]);
    shop.replace("check.c", "return 0", "return");
    shop.replace("check.c", "int main", "itn main");
    let done = shop.tamis(&["run"]);
    let text = told(&done);
    assert_eq!(done.status.code(), Some(2), "{text}");
    assert!(
        text.contains("the project does not compile: no test was started"),
        "{text}"
    );
    // A step that only selects keeps nobody from the tests.
    let words = ["select", "--here", "--", "ctest", "--test-dir", "build"];
    let select = shop.tamis(&words);
    let text = told(&select);
    assert!(select.status.success(), "{text}");
    assert!(
        text.contains("running more: the project does not compile"),
        "{text}"
    );
    shop.replace("check.c", "itn main", "int main");
    shop.replace("check.c", "return", "return 1 -");
    shop.replace("check.c", "1 -;", "1;");
    let ran = shop.run();
    ran.are(&["good"]);
    assert_eq!(ran.outcomes["good"], "failed");
}

#[test]
fn options_of_ctest_hold() {
    if !has_cmake() {
        return;
    }
    let shop = project(SMALL);
    let ctest = |more: &[&str]| {
        let words = ["run", "--", "ctest", "--test-dir", "build"];
        told(&shop.tamis(&[&words, more].concat()))
    };
    let text = ctest(&["-V", "-j2", "--output-junit", "results.xml"]);
    assert!(text.contains("said"), "{text}");
    let results = fs_err::read_to_string(shop.root().join("build/results.xml")).unwrap();
    assert!(results.contains("testcase name=\"other\""), "{results}");
    shop.replace("check.c", "return 0", "return 1");
    let text = ctest(&["-R", "other"]);
    assert!(!text.contains("good"), "{text}");
    let text = ctest(&["--rerun-failed"]);
    assert!(text.contains("with `--rerun-failed`"), "{text}");
    let text = ctest(&[]);
    assert!(text.contains("1 - good (Failed)"), "{text}");
}

#[test]
fn tests_that_were_not_reached_run_next_time() {
    if !has_cmake() {
        return;
    }
    let shop = project(SMALL);
    shop.replace(
        "CMakeLists.txt",
        "echo said; exit 0",
        "exit $(cat ../data.txt)",
    );
    shop.write("data.txt", "0\n");
    let command = ["--", "ctest", "--test-dir", "build", "--stop-on-failure"];
    shop.run_with(&command).are(&["good", "other"]);
    shop.replace("check.c", "return 0", "return 1");
    shop.write("data.txt", "1\n");
    shop.run_with(&command).are(&["good"]);
    shop.replace("check.c", "return 1", "return 0");
    let ran = shop.run_with(&command);
    assert_eq!(ran.outcomes["other"], "failed", "{}", ran.told);
}

#[test]
fn a_file_that_a_test_requires_counts() {
    if !has_cmake() {
        return;
    }
    let shop = project(SMALL);
    shop.replace(
        "CMakeLists.txt",
        "add_test(NAME other",
        "set_tests_properties(good PROPERTIES REQUIRED_FILES ${CMAKE_BINARY_DIR}/required)\n\
         add_test(NAME other",
    );
    shop.sh("mkdir build && touch build/required");
    shop.run().are(&["good", "other"]);
    shop.run().are(&[]);
    shop.sh("rm build/required");
    let ran = shop.run();
    assert!(ran.outcomes.contains_key("good"), "{}", ran.told);
    assert_eq!(ran.code, 8, "{}", ran.told);
}

/// Selecting builds: what lies there from before tells nothing of an edit.
#[test]
fn a_step_that_selects_builds_first() {
    if !has_cmake() {
        return;
    }
    let shop = project(SMALL);
    shop.run().are(&["good", "other"]);
    shop.replace("check.c", "return 0", "return 1");
    let ctest = ["ctest", "--test-dir", "build"];
    let select = shop.tamis(&[&["select", "--here", "--out", "sel", "--"], &ctest[..]].concat());
    let text = String::from_utf8_lossy(&select.stdout);
    assert_eq!(text.trim(), "good", "{}", told(&select));
    let record = shop.tamis(&[&["record", "--selection", "sel", "--"], &ctest[..]].concat());
    let text = told(&record);
    assert!(text.contains("1 - good (Failed)"), "{text}");
    assert!(text.contains("1 test left out"), "{text}");
}

#[test]
fn a_test_that_leaves_another_work_tree_lets_the_others_run() {
    if !has_cmake() {
        return;
    }
    let shop = project(&format!(
        "{SMALL}{}",
        r#"
-- sub.txt --
one
-- tamis.yml --
version: 1
runner: ctest
"#
    ));
    shop.replace(
        "CMakeLists.txt",
        "add_test(NAME other COMMAND sh -c \"echo said; exit 0\")",
        "add_test(NAME reads COMMAND sh -c \"! grep -q two note.txt\")\n\
         add_test(NAME writes COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/writes.sh)",
    );
    shop.write("writes.sh", "echo one > same.txt\n");
    shop.run().are(&["good", "reads", "writes"]);
    shop.write("writes.sh", "echo  one > same.txt\n");
    shop.run().are(&["writes"]);
    shop.write("writes.sh", "echo two > note.txt\n");
    let ran = shop.run();
    ran.are(&["good", "reads", "writes"]);
    assert!(
        ran.told.contains("the other tests run, too"),
        "{}",
        ran.told
    );
    // In the order of the list the reader came first.
    assert_eq!(ran.outcomes["reads"], "failed");
}

#[test]
fn tests_with_odd_names_and_of_one_name_are_told_apart() {
    if !has_cmake() {
        return;
    }
    let shop = project(
        r#"
-- CMakeLists.txt --
cmake_minimum_required(VERSION 3.19)
project(odd NONE)
enable_testing()
add_test(NAME "a]b \"c\" ; d" COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/one.sh "x;y" "" "[[z]]" "$HOME")
add_test(NAME same COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/two.sh)
add_subdirectory(sub)
-- one.sh --
test "$1" = "x;y" && test "$2" = "" && test "$3" = "[[z]]" && test "$4" = '$HOME'
-- two.sh --
exit 0
-- sub/CMakeLists.txt --
add_test(NAME same COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/three.sh)
-- sub/three.sh --
exit 0
"#,
    );
    let odd = "a]b \"c\" ; d";
    let ran = shop.run();
    ran.are(&[odd, "same"]);
    assert!(
        ran.outcomes.values().all(|one| one == "passed"),
        "{}",
        ran.told
    );
    shop.run().are(&[]);
    shop.write("sub/three.sh", "exit 1\n");
    let ran = shop.run();
    ran.are(&["same"]);
    assert_eq!(ran.outcomes["same"], "failed");
    shop.write("sub/three.sh", "exit 0\n");
    shop.write("one.sh", "exit 0\n");
    shop.run().are(&[odd, "same"]);
    // Which of two programs is meant without a folder, nobody can tell.
    shop.write(
        "sub/CMakeLists.txt",
        "add_test(NAME same COMMAND cmake -E sleep 0)\n",
    );
    shop.run().are(&["same"]);
    shop.run().are(&["same"]);
}
