//! jest under tamis. The truth is what jest finds.

use super::harness::{JEST, has_node, jest, package_with};
use crate::harness::Edit::{Env, Replace, Shell, Write};
use crate::harness::{Edited, Row, one_in, told};

const PACKAGE: &str = r#"
-- package.json --
{ "name": "demo", "devDependencies": { "jest": "*" } }
-- README.md --
A demo.
-- jest.config.js --
module.exports = {
  setupFiles: ['./setup.js'],
  globalSetup: './global.js',
  moduleNameMapper: { '^@lib/(.*)$': '<rootDir>/lib/$1' },
}
-- setup.js --
global.prepared = require('./lib/prepared').prepared
-- global.js --
module.exports = () => { process.env.DEMO_LIMIT = String(require('./lib/limit').limit) }
-- lib/prepared.js --
module.exports = { prepared: 1 }
-- lib/limit.js --
module.exports = { limit: 10 }
-- lib/base.js --
module.exports = { base: 1 }
-- lib/a.js --
module.exports = { a: require('./base').base + 1 }
-- lib/b.js --
module.exports = { b: require('./base').base + 2 }
-- lib/data.json --
{ "answer": 42 }
-- lib/unused.js --
module.exports = {}
-- lib/dep/__mocks__/own.js --
module.exports = { own: () => 'mocked' }
-- lib/dep/own.js --
module.exports = { own: () => 'own' }
-- vendor/dep/package.json --
{ "name": "dep", "main": "index.js" }
-- vendor/dep/index.js --
exports.twice = n => n * 2
-- test/a.test.js --
test('a', () => expect(require('@lib/a').a).toBe(2))
-- test/b.test.js --
test('b', () => expect(require('../lib/b').b).toBe(3))
-- test/text.test.js --
const fs = require('fs')
test('text', () => expect(fs.readFileSync('lib/b.js', 'utf8')).toMatch('base + 2'))
test('absent', () => expect(fs.existsSync('lib/absent.txt')).toBe(false))
-- test/data.test.js --
test('answers', () => expect(require('../lib/data.json').answer).toBe(42))
-- test/own.test.js --
jest.mock('../lib/dep/own')
test('is mocked', () => expect(require('../lib/dep/own').own()).toBe('mocked'))
-- test/dep.test.js --
test('doubles', () => expect(require('dep').twice(2)).toBe(4))
-- test/snap.test.js --
test('snaps', () => expect({ a: 1 }).toMatchSnapshot())
-- test/__snapshots__/snap.test.js.snap --
// Jest Snapshot v1, https://jestjs.io/docs/snapshot-testing

exports[`snaps 1`] = `
{
  "a": 1,
}
`;
-- test/prepared.test.js --
test('is prepared', () => expect(global.prepared).toBe(1))
test('is limited', () => expect(process.env.DEMO_LIMIT).toBe('10'))
test('is not set', () => expect(process.env.DEMO).toBe(undefined))
"#;

const ALL: [&str; 8] = [
    "test/a.test.js",
    "test/b.test.js",
    "test/data.test.js",
    "test/dep.test.js",
    "test/own.test.js",
    "test/prepared.test.js",
    "test/snap.test.js",
    "test/text.test.js",
];

const EDITS: &[Row] = &[
    ("nothing", Shell("true"), ""),
    ("a file that nobody reads", Write("README.md", "x\n"), ""),
    (
        "a module that nobody needs",
        Write("lib/unused.js", "1\n"),
        "",
    ),
    (
        "a module behind a mapped name",
        Replace("lib/a.js", "+ 1", "+ 2"),
        "test/a.test.js",
    ),
    (
        "a module of two tests",
        Replace("lib/base.js", "1", "2"),
        "test/a.test.js test/b.test.js",
    ),
    (
        "data that is required",
        Replace("lib/data.json", "42", "43"),
        "test/data.test.js",
    ),
    (
        "a mock",
        Replace("lib/dep/__mocks__/own.js", "'mocked'", "'other'"),
        "test/own.test.js",
    ),
    (
        "a test",
        Replace("test/a.test.js", "toBe(2)", "toBe(3)"),
        "test/a.test.js",
    ),
    (
        "a package of the work tree",
        Replace("vendor/dep/index.js", "n * 2", "n * 3"),
        "test/dep.test.js",
    ),
    (
        "a new test",
        Write("lib/new.test.js", "test('new', () => expect(1).toBe(2))\n"),
        "lib/new.test.js",
    ),
    ("a test that is gone", Shell("rm test/a.test.js"), ""),
    (
        "a snapshot",
        Replace(
            "test/__snapshots__/snap.test.js.snap",
            "\"a\": 1",
            "\"a\": 2",
        ),
        "test/snap.test.js",
    ),
    (
        "what runs before each test file",
        Replace("lib/prepared.js", "1", "2"),
        "all",
    ),
    (
        "what runs before all",
        Replace("lib/limit.js", "10", "11"),
        "all",
    ),
    (
        "the configuration",
        Replace("jest.config.js", "'./global.js'", "'./global'"),
        "all",
    ),
    (
        "a mock of a package, which nobody has to ask for",
        Write("__mocks__/dep.js", "exports.twice = () => 0\n"),
        "all",
    ),
    (
        "a mock of a package in a folder of mocks",
        Write("lib/dep/__mocks__/dep.js", "exports.twice = () => 0\n"),
        "all",
    ),
    (
        "a configuration of the compiler that appears",
        Write("babel.config.js", "module.exports = {}\n"),
        "all",
    ),
    ("a variable", Env("DEMO", "1"), "all"),
    (
        "a module that does not parse",
        Write("lib/a.js", "module.exports = {\n"),
        "test/a.test.js",
    ),
];

#[test]
fn edits_run_what_they_can_affect() {
    if !has_node() {
        return;
    }
    let edited = Edited {
        shop: package_with(PACKAGE, JEST),
        kept: &["node_modules"],
        groups: &[("all", &ALL)],
        is_exact: true,
        plain: jest,
    };
    edited.check(EDITS.iter().step_by(one_in(10)));
}

/// What a test file reads by itself counts for all that its process ran.
#[test]
fn a_source_that_is_read_as_text_counts() {
    if !has_node() {
        return;
    }
    let shop = package_with(PACKAGE, JEST);
    for words in [&["-i"][..], &["--maxWorkers=2"]] {
        shop.sh("git checkout -q . && rm -rf .tamis");
        let command = [&["--", "node_modules/.bin/jest"], words].concat();
        shop.run_with(&command).are(&ALL);
        shop.replace("lib/b.js", "base + 2", "base + 1 + 1");
        let ran = shop.run_with(&command);
        for (test, outcome) in [
            ("test/b.test.js", "passed"),
            ("test/text.test.js", "failed"),
        ] {
            let told = ran.outcomes.get(test).map(String::as_str);
            assert_eq!(told, Some(outcome), "{test}: {}", ran.told);
        }
    }
}

#[test]
fn what_jest_says_stays_as_it_is() {
    if !has_node() {
        return;
    }
    let shop = package_with(PACKAGE, JEST);
    let first = told(&shop.tamis(&["run"]));
    assert!(
        first.contains("Tests:       11 passed, 11 total"),
        "{first}"
    );
    assert!(first.contains("8 tests ran"), "{first}");
    let second = told(&shop.tamis(&["run"]));
    assert!(second.contains("nothing selected of 8 tests"), "{second}");
    // With coverage, jest reads what no test ran.
    let command = [
        "run",
        "--",
        "node_modules/.bin/jest",
        "--coverage",
        "--coverageDirectory=../coverage",
        "--collectCoverageFrom=lib/*.js",
    ];
    let text = told(&shop.tamis(&command));
    assert!(text.contains("unused.js"), "{text}");
    shop.write("lib/unused.js", "module.exports = { b: 1 }\n");
    let text = told(&shop.tamis(&command));
    assert!(text.contains("8 left out on proof"), "{text}");
    let text = told(&shop.tamis(&["run", "--", "node_modules/.bin/jest", "-t", "snaps"]));
    assert!(text.contains("`-t` says itself what runs"), "{text}");
}
