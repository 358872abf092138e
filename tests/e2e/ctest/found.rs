//! Ways in which edits come to tests that do not run them, and in which tests end as they would not
//! without tamis.

use super::harness::{has_cmake, plain, project};
use crate::harness::Workshop;

const LISTS: &str = "CMakeLists.txt";

/// A project with these lines behind `include(CTest)`.
fn with(lines: &str, files: &str) -> Workshop {
    project(&format!(
        "-- CMakeLists.txt --\ncmake_minimum_required(VERSION 3.20)\nproject(found C)\n\
         include(CTest)\n{lines}\n{files}"
    ))
}

/// Runs, makes the edit, runs again: what counts is found, and ends as with `ctest` alone.
#[track_caller]
fn is_found(shop: &Workshop, edit: impl Fn(&Workshop)) {
    shop.run();
    shop.run().are(&[]);
    edit(shop);
    let ran = shop.run();
    let (truth, status) = plain(shop);
    for (test, outcome) in &truth {
        let told = ran.outcomes.get(test).map_or("passed", String::as_str);
        assert_eq!(told, outcome, "{test}\n{}", ran.told);
    }
    assert_eq!(ran.code, status, "{}", ran.told);
    assert_ne!(status, 0, "the edit does nothing");
}

#[test]
fn scripts_that_ctest_reads_can_set_variables() {
    if !has_cmake() {
        return;
    }
    let lines = "configure_file(env.txt ${CMAKE_BINARY_DIR}/env.cmake COPYONLY)\n\
        set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_BINARY_DIR}/env.cmake)\n\
        add_test(NAME t COMMAND sh -c \"test \\\"$FOO\\\" = 1\")";
    let shop = with(lines, "-- env.txt --\nset(ENV{FOO} 1)\nset(out 0)\n");
    is_found(&shop, |shop| shop.write("env.txt", "set(ENV{FOO} 2)\n"));
}

#[test]
fn what_a_project_sets_for_ctest_counts_once_it_is_there() {
    if !has_cmake() {
        return;
    }
    let lines = "if(EXISTS ${CMAKE_SOURCE_DIR}/custom.txt)\n\
        configure_file(custom.txt ${CMAKE_BINARY_DIR}/CTestCustom.cmake COPYONLY)\nendif()\n\
        add_test(NAME t COMMAND sh -c \"test \\\"$FOO\\\" != 2\")\n\
        add_test(NAME ignored COMMAND true)";
    let shop = with(lines, "");
    is_found(&shop, |shop| {
        let text = "include(${CMAKE_CURRENT_LIST_DIR}/CMakeFiles/more.cmake)\n\
            set(CTEST_CUSTOM_TESTS_IGNORE ignored)\n";
        shop.write("custom.txt", text);
        shop.write("build/CMakeFiles/more.cmake", "set(ENV{FOO} 2)\n");
        shop.sh("touch CMakeLists.txt");
    });
}

#[test]
fn data_beside_the_log_of_ctest_counts() {
    if !has_cmake() {
        return;
    }
    let lines = "configure_file(d.txt ${CMAKE_BINARY_DIR}/Testing/Data/d.dat COPYONLY)\n\
        add_test(NAME t COMMAND grep -q good Testing/Data/d.dat)";
    let shop = with(lines, "-- d.txt --\ngood\n");
    is_found(&shop, |shop| shop.write("d.txt", "bad\n"));
}

#[test]
fn a_path_with_the_top_is_no_other_one() {
    if !has_cmake() {
        return;
    }
    let shop = with(
        "add_test(NAME t COMMAND cat ${CMAKE_SOURCE_DIR}/d.txt)",
        "-- d.txt --\nx\n",
    );
    is_found(&shop, |shop| {
        shop.replace(LISTS, "${CMAKE_SOURCE_DIR}/d", "./d")
    });
}

#[test]
fn a_resource_file_can_be_another_one() {
    if !has_cmake() {
        return;
    }
    let spec = |kind: &str| {
        format!(
            "{{\"version\": {{\"major\": 1, \"minor\": 0}}, \"local\": [{{\"{kind}\": [{{\"id\": \"0\", \"slots\": 4}}]}}]}}\n"
        )
    };
    let lines = "file(STRINGS which.txt which)\n\
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS which.txt)\n\
        set(CTEST_RESOURCE_SPEC_FILE ${CMAKE_SOURCE_DIR}/${which})\ninclude(CTest)\n\
        add_test(NAME t COMMAND true)\n\
        set_tests_properties(t PROPERTIES RESOURCE_GROUPS \"2,gpus:1\")";
    let (one, other) = (spec("gpus"), spec("cpus"));
    let files = format!("-- which.txt --\na.json\n-- a.json --\n{one}-- b.json --\n{other}");
    let shop = project(&format!(
        "-- CMakeLists.txt --\ncmake_minimum_required(VERSION 3.20)\nproject(found C)\n{lines}\n{files}"
    ));
    is_found(&shop, |shop| shop.write("which.txt", "b.json\n"));
}

#[test]
fn of_one_name_a_test_is_new_that_is_not_disabled() {
    if !has_cmake() {
        return;
    }
    let lines = "add_test(NAME t COMMAND true)\nset_tests_properties(t PROPERTIES DISABLED TRUE)\n\
        add_test(NAME u COMMAND true)\nadd_subdirectory(s)";
    let shop = with(lines, "-- s/CMakeLists.txt --\n# None.\n");
    is_found(&shop, |shop| {
        shop.write("s/CMakeLists.txt", "add_test(NAME t COMMAND false)\n");
    });
}

/// `ctest` itself finds that a program cannot be started, whatever else would count as success.
#[test]
fn what_cannot_be_started_fails_as_ever() {
    if !has_cmake() {
        return;
    }
    let lines = "add_test(NAME t COMMAND ${CMAKE_SOURCE_DIR}/s.sh)\n\
        set_tests_properties(t PROPERTIES WILL_FAIL TRUE)\n\
        add_test(NAME u COMMAND ${CMAKE_SOURCE_DIR}/bad.sh)\n\
        set_tests_properties(u PROPERTIES PASS_REGULAR_EXPRESSION s)\n\
        add_test(NAME n COMMAND test x = \"\nx\")\n\
        set_tests_properties(n PROPERTIES WILL_FAIL TRUE)";
    let files = "-- s.sh --\n#!/bin/sh\nexit 1\n-- bad.sh --\n#!/bin/sh\necho s\n";
    let shop = with(lines, files);
    shop.sh("chmod +x s.sh bad.sh && git commit -qam run");
    is_found(&shop, |shop| {
        shop.sh("chmod -x s.sh");
        shop.write("bad.sh", "#!/nonexistent\n");
    });
}

#[test]
fn a_library_before_the_program_comes_once() {
    if !has_cmake() {
        return;
    }
    let lines = "add_library(pre SHARED pre.c)\nadd_executable(main main.c)\n\
        add_test(NAME t COMMAND main)\n\
        set_tests_properties(t PROPERTIES ENVIRONMENT \"LD_PRELOAD=libpre.so;LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}\"\n\
        PASS_REGULAR_EXPRESSION \"^loaded.main\")";
    let files = "-- pre.c --\n#include <unistd.h>\n\
        __attribute__((constructor)) static void load(void) { if (write(1, \"loaded\\n\", 7)) {} }\n\
        -- main.c --\n#include <stdio.h>\nint main(void) { puts(\"main\"); return 0; }\n";
    let ran = with(lines, files).run();
    assert_eq!(ran.outcomes["t"], "passed", "{}", ran.told);
}

#[test]
fn a_configuration_is_built_and_tested() {
    if !has_cmake() || crate::harness::folder_of("ninja", &[]).is_none() {
        return;
    }
    let shop = with(
        "add_executable(main main.c)\nadd_test(NAME t COMMAND main)",
        "-- main.c --\nint main(void) { return 0; }\n",
    );
    shop.sh("cmake -G 'Ninja Multi-Config' -B build > /dev/null");
    let command = ["--", "ctest", "--test-dir", "build", "-C", "Debug"];
    shop.run_with(&command).are(&["t"]);
    shop.run_with(&command).are(&[]);
    shop.replace("main.c", "return 0", "return 1");
    let ran = shop.run_with(&command);
    assert_eq!(ran.outcomes["t"], "failed", "{}", ran.told);
}

/// Who uses what several tests left needs all of them, and they it.
#[test]
fn all_who_leave_something_to_a_test_are_known() {
    if !has_cmake() {
        return;
    }
    let lines = "add_test(NAME w1 COMMAND sh -c \"echo 1 > x1\")\n\
        add_test(NAME w2 COMMAND sh -c \"echo 2 > x2\")\n\
        add_test(NAME y COMMAND cat x1 x2)\nadd_test(NAME z COMMAND true)";
    let shop = with(lines, "");
    shop.run().are(&["w1", "w2", "y", "z"]);
    shop.sh("rm -r build");
    let ran = shop.run();
    assert_eq!(ran.code, 0, "{}", ran.told);
}

#[test]
fn the_file_of_results_has_both_passes() {
    if !has_cmake() {
        return;
    }
    let lines =
        "add_test(NAME b COMMAND sh ${CMAKE_SOURCE_DIR}/b.sh)\nadd_test(NAME d COMMAND true)";
    let shop = with(lines, "-- b.sh --\ntrue\n");
    let command = [
        "--",
        "ctest",
        "--test-dir",
        "build",
        "--output-junit",
        "j.xml",
    ];
    shop.run_with(&command).are(&["b", "d"]);
    shop.write("b.sh", "echo $$ > left\n");
    shop.run_with(&command).are(&["b", "d"]);
    let text = fs_err::read_to_string(shop.root().join("build/j.xml")).unwrap();
    for part in ["tests=\"2\"", "name=\"b\"", "name=\"d\""] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}
