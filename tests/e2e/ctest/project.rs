//! The project of the edit table: programs in C, scripts, and tests that belong together.

pub const PROJECT: &str = r#"
-- CMakeLists.txt --
cmake_minimum_required(VERSION 3.20)
project(demo C)
include(CTest)
set(GREETING "hello" CACHE STRING "What the program says")
configure_file(config.h.in config.h)
include_directories(${CMAKE_CURRENT_BINARY_DIR} include)

add_library(calc STATIC src/add.c src/sub.c src/unused.c)
add_library(words SHARED src/words.c)
add_library(plugin MODULE src/plugin.c)
set_target_properties(plugin PROPERTIES PREFIX "")
add_custom_command(
    OUTPUT table.c
    COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/tools/table.sh
        ${CMAKE_CURRENT_SOURCE_DIR}/data/table.txt > table.c
    DEPENDS tools/table.sh data/table.txt)
add_executable(tool src/tool.c table.c)
target_link_libraries(tool calc)

function(program name)
    add_executable(${name} tests/${name}.c)
    target_link_libraries(${name} ${ARGN})
    add_test(NAME ${name} COMMAND ${name})
endfunction()
program(adds calc)
program(subs calc)
program(counts words)
program(greets calc)
program(loads ${CMAKE_DL_LIBS})
add_dependencies(loads plugin)
set_tests_properties(loads PROPERTIES ENVIRONMENT "PLUGIN=$<TARGET_FILE:plugin>")
program(limits)
program(header)

add_executable(cases tests/cases.c)
add_test(NAME "case one" COMMAND cases one)
add_test(NAME "case two" COMMAND cases two ${CMAKE_CURRENT_SOURCE_DIR}/data/two.txt)
add_test(NAME "case off" COMMAND cases off)
set_tests_properties("case off" PROPERTIES DISABLED TRUE)

add_test(NAME runs_tool COMMAND tool 3)
set_tests_properties(runs_tool PROPERTIES PASS_REGULAR_EXPRESSION "sum is 9")
add_test(NAME fails COMMAND sh -c "exit 3")
set_tests_properties(fails PROPERTIES WILL_FAIL TRUE)
add_test(NAME script
    COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/tests/script.sh $<TARGET_FILE:tool>)
add_test(NAME direct COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tests/direct.sh)
add_test(NAME reads COMMAND sh -c "grep -q red colours.txt"
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/data)
add_test(NAME lists COMMAND sh -c "test $(echo *.txt | wc -w) = 4"
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/data)
add_test(NAME looks COMMAND sh -c "! test -e override.cfg"
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
add_test(NAME variable COMMAND sh -c "test \"$MODE\" != broken")
add_test(NAME skips COMMAND sh -c "test -e full.flag || exit 77"
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/data)
set_tests_properties(skips PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME writes COMMAND sh -c "echo out > written.out && grep -q out written.out")

add_test(NAME starts COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/tests/start.sh)
add_test(NAME queries COMMAND sh -c "grep -q ready state.db")
add_test(NAME stops COMMAND cmake -E rm -f state.db)
set_tests_properties(starts PROPERTIES FIXTURES_SETUP state)
set_tests_properties(stops PROPERTIES FIXTURES_CLEANUP state)
set_tests_properties(queries PROPERTIES FIXTURES_REQUIRED state)

add_subdirectory(sub)
-- sub/CMakeLists.txt --
add_test(NAME below COMMAND ${CMAKE_COMMAND} -P ${CMAKE_CURRENT_SOURCE_DIR}/check.cmake)
add_test(NAME script2 COMMAND sh -c "exit 0")
-- sub/check.cmake --
file(READ "${CMAKE_CURRENT_LIST_DIR}/value.txt" value)
if(NOT value STREQUAL "7\n")
    message(FATAL_ERROR "it is ${value}")
endif()
-- sub/value.txt --
7
-- config.h.in --
#define GREETING "@GREETING@"
-- include/limits_of.h --
#define LIMIT 10
static inline int twice(int a) { return 2 * a; }
-- include/calc.h --
/* What the library has. */
int add(int a, int b);
int sub(int a, int b);
int unused(int a);
-- include/words.h --
int words(const char *text);
-- src/add.c --
#include "calc.h"
int add(int a, int b) { return a + b; }
-- src/sub.c --
#include "calc.h"
int sub(int a, int b) { return a - b; }
-- src/unused.c --
#include "calc.h"
int unused(int a) { return a * 7; }
-- src/words.c --
#include "words.h"
int words(const char *text) {
    int count = 0, inside = 0;
    for (; *text; text++) {
        if (*text == ' ') inside = 0;
        else if (!inside) { inside = 1; count++; }
    }
    return count;
}
-- src/plugin.c --
int answer(void) { return 42; }
-- src/tool.c --
#include <stdio.h>
#include <stdlib.h>
#include "calc.h"
extern int table[];
int main(int argc, char **argv) {
    int sum = 0;
    for (int i = 0; i < atoi(argv[argc - 1]); i++) sum = add(sum, table[i]);
    printf("sum is %d\n", sum);
    return 0;
}
-- tools/table.sh --
printf 'int table[] = {'
while read -r number; do printf '%s,' "$number"; done < "$1"
printf '};\n'
-- data/table.txt --
2
3
4
-- data/two.txt --
two
-- data/colours.txt --
red
green
-- data/other.txt --
nobody reads this
-- tests/adds.c --
#include "calc.h"
int main(void) { return add(2, 3) != 5; }
-- tests/subs.c --
#include "calc.h"
int main(void) { return sub(3, 2) != 1; }
-- tests/counts.c --
#include "words.h"
int main(void) { return words("one two  three") != 3; }
-- tests/greets.c --
#include <string.h>
#include "config.h"
#include "calc.h"
int main(void) { return strcmp(GREETING, "hello") || add(1, 1) != 2; }
-- tests/loads.c --
#include <dlfcn.h>
#include <stdlib.h>
int main(void) {
    void *library = dlopen(getenv("PLUGIN"), RTLD_NOW);
    if (!library) return 2;
    int (*answer)(void) = (int (*)(void))dlsym(library, "answer");
    return !answer || answer() != 42;
}
-- tests/limits.c --
#include "limits_of.h"
int main(void) { return LIMIT < 5; }
-- tests/header.c --
#include "limits_of.h"
int main(void) { return twice(4) != 8; }
-- tests/cases.c --
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
    if (argc > 2) {
        char line[16] = "";
        FILE *file = fopen(argv[2], "r");
        return !file || !fgets(line, 16, file) || strcmp(line, "two\n");
    }
    return strcmp(argv[1], "one") != 0;
}
-- tests/script.sh --
. "$(dirname "$0")/common.sh"
expect "$("$1" 2)" "sum is 5"
-- tests/direct.sh --
#!/bin/sh
exit 0
-- tests/common.sh --
expect() { test "$1" = "$2"; }
-- tests/start.sh --
echo ready > state.db
"#;

/// Every test that runs.
pub const TESTS: [&str; 23] = [
    "adds",
    "subs",
    "counts",
    "greets",
    "loads",
    "limits",
    "header",
    "case one",
    "case two",
    "runs_tool",
    "fails",
    "script",
    "reads",
    "lists",
    "looks",
    "variable",
    "skips",
    "writes",
    "starts",
    "queries",
    "stops",
    "below",
    "direct",
];
