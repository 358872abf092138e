//! What people see: output, status, other commands, and other ways to run.

use super::harness::{has_node, package, plain_package, versions};
use super::project::PACKAGE;
use crate::harness::{Workshop, told};

/// Two test files, each with a module of its own, and a third one that both need.
const SMALL: &str = r#"
-- package.json --
{ "name": "small", "type": "module", "devDependencies": { "vitest": "*" } }
-- src/a.js --
import { base } from './base.js'
export const a = base + 1
-- src/b.js --
import { base } from './base.js'
export const b = base + 2
-- src/base.js --
export const base = 1
-- test/a.test.js --
import { expect, test } from 'vitest'
import { a } from '../src/a.js'
test('a', () => expect(a).toBe(2))
-- test/b.test.js --
import { expect, test } from 'vitest'
import { b } from '../src/b.js'
test('b', () => expect(b).toBe(3))
"#;

fn small(more: &str) -> Option<Workshop> {
    let version = versions().first()?;
    Some(package(&format!("{SMALL}{more}"), version))
}

#[test]
fn a_package_needs_no_configuration() {
    let Some(version) = versions().first() else {
        return;
    };
    let shop = package(PACKAGE, version);
    let first = shop.tamis(&["run"]);
    let text = told(&first);
    assert!(first.status.success(), "{text}");
    for line in ["test/add.test.ts", "20 passed", "20 tests ran"] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(!text.contains("deprecated"), "{text}");
    let second = told(&shop.tamis(&["run"]));
    assert!(second.contains("nothing selected of 20 tests"), "{second}");

    shop.replace("src/lazy.ts", "'late'", "'later'");
    let why = told(&shop.tamis(&["why", "test/lazy.test.ts"]));
    assert!(why.contains("code src/lazy.ts#late changed"), "{why}");
    assert!(why.contains("(changed), which ran\n"), "{why}");
    let why = told(&shop.tamis(&["why", "test/add.test.ts"]));
    assert!(why.contains("would be left out"), "{why}");
    let select = shop.tamis(&["select", "--out", "../sel"]);
    assert!(select.status.success(), "{}", told(&select));
    let read = |name: &str| fs_err::read_to_string(shop.root().join("../sel").join(name)).unwrap();
    assert_eq!(read("test-files.txt"), "test/lazy.test.ts\n");
    let left_out = read("test-files-left-out.txt");
    assert_eq!(left_out.lines().count(), 19, "{left_out}");
    let third = shop.tamis(&["run"]);
    let text = told(&third);
    assert_eq!(third.status.code(), Some(1), "{text}");
    assert!(text.contains("1 test ran"), "{text}");
    let doctor = told(&shop.tamis(&["doctor"]));
    assert!(doctor.contains("Node.js v"), "{doctor}");
}

#[test]
fn init_knows_node() {
    let Some(shop) = small("") else {
        return;
    };
    let done = shop.tamis(&["init"]);
    assert!(done.status.success(), "{}", told(&done));
    let file = fs_err::read_to_string(shop.root().join("tamis.yml")).unwrap();
    assert!(file.contains("runner: node"), "{file}");
}

#[test]
fn vitest_that_is_not_installed_is_an_error() {
    if !has_node() {
        return;
    }
    let shop = plain_package(SMALL);
    let done = shop.tamis(&["run"]);
    let text = told(&done);
    assert_eq!(done.status.code(), Some(2), "{text}");
    assert!(
        text.contains("vitest is not installed") && text.contains("npm install"),
        "{text}"
    );
}

#[test]
fn what_chooses_tests_itself_is_left_alone() {
    let Some(shop) = small("") else {
        return;
    };
    for word in ["-t", "--shard=1/2", "--changed", "-u"] {
        let mut words = vec!["run", "--", "node_modules/.bin/vitest", "run", word];
        if word == "-t" {
            words.push("a");
        }
        let done = shop.tamis(&words);
        let text = told(&done);
        let why = format!("nothing is recorded: `{word}` says itself what runs");
        assert!(text.contains(&why), "{text}");
        assert!(done.status.success(), "{text}");
    }
    let done = shop.tamis(&["run", "--", "node", "-e", "console.log('hello')"]);
    let text = told(&done);
    assert!(text.contains("hello"), "{text}");
    assert!(
        text.contains("starts neither vitest, jest nor `node --test`"),
        "{text}"
    );
}

#[test]
fn scripts_of_the_package_start_vitest_too() {
    let Some(shop) = small("") else {
        return;
    };
    shop.sh("sed -i 's/\"type\"/\"scripts\": { \"test\": \"vitest\" }, \"type\"/' package.json");
    let words = ["--", "npm", "test"];
    shop.run_with(&words)
        .are(&["test/a.test.js", "test/b.test.js"]);
    shop.replace("src/a.js", "base + 1", "1 + base");
    shop.run_with(&words).are(&["test/a.test.js"]);
}

#[test]
fn reporters_stay_as_they_are() {
    let Some(shop) = small(
        r#"
-- own.js --
export default class {
  onInit() { console.log('own reporter begins') }
  onTestRunEnd() { console.log('own reporter ends') }
}
-- vitest.config.js --
export default {
  test: { reporters: ['dot', ['json', { outputFile: 'told.json' }], './own.js'] },
}
"#,
    ) else {
        return;
    };
    let text = told(&shop.tamis(&["run"]));
    for line in ["own reporter begins", "own reporter ends", "2 tests ran"] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let file = fs_err::read_to_string(shop.root().join("told.json")).unwrap();
    assert!(file.contains("b.test.js"), "{file}");
    shop.replace("src/b.js", "base + 2", "2 + base");
    let typed = ["--", "node_modules/.bin/vitest", "run", "--reporter=tap"];
    let done = shop.tamis(&[&["run"], &typed[..]].concat());
    let text = told(&done);
    assert!(text.contains("TAP version 13"), "{text}");
    assert!(!text.contains("own reporter"), "{text}");
}

#[test]
fn test_files_that_share_a_process_share_what_they_need() {
    for (option, together) in [
        ("isolate: false, fileParallelism: false", true),
        ("pool: 'threads'", false),
        // Both run in one context there.
        ("pool: 'vmForks'", true),
    ] {
        let config = format!("-- vitest.config.js --\nexport default {{ test: {{ {option} }} }}\n");
        let Some(shop) = small(&config) else {
            return;
        };
        let both = ["test/a.test.js", "test/b.test.js"];
        shop.run().are(&both);
        shop.replace("src/a.js", "base + 1", "1 + base");
        shop.run().are(if together { &both } else { &both[..1] });
        shop.replace("src/base.js", "= 1", "= 1 + 0");
        shop.run().are(&both);
        shop.run().are(&[]);
    }
}

#[test]
fn files_of_the_same_name_in_several_projects_are_told_apart() {
    let Some(version) = versions().first() else {
        return;
    };
    let shop = package(
        r#"
-- package.json --
{ "name": "top", "type": "module", "devDependencies": { "vitest": "*" } }
-- vitest.config.js --
export default { test: { projects: ['one', 'two', { extends: true, test: { name: 'again', root: 'one' } }] } }
-- one/vitest.config.js --
export default { test: { name: 'one' } }
-- one/x.test.js --
import { expect, test } from 'vitest'
import { x } from './x.js'
test('x', () => expect(x).toBe(1))
-- one/x.js --
export const x = 1
-- two/vitest.config.js --
export default { test: { name: 'two' } }
-- two/x.test.js --
import { expect, test } from 'vitest'
import { x } from './x.js'
test('x', () => expect(x).toBe(2))
-- two/x.js --
export const x = 2
"#,
        version,
    );
    shop.run().are(&["one/x.test.js", "two/x.test.js"]);
    shop.replace("one/x.js", "1", "1 + 0");
    shop.run().are(&["one/x.test.js"]);
    shop.replace("two/x.js", "2", "3");
    let ran = shop.run();
    ran.are(&["two/x.test.js"]);
    assert_eq!(ran.outcomes["two/x.test.js"], "failed");
}

#[test]
fn a_test_that_uses_what_another_one_wrote_runs_every_time() {
    let Some(shop) = small(
        r#"
-- vitest.config.js --
export default { test: { fileParallelism: false } }
-- test/1.test.js --
import fs from 'node:fs'
import { test } from 'vitest'
test('writes', () => fs.writeFileSync('left.tmp', 'x'))
-- test/2.test.js --
import fs from 'node:fs'
import { expect, test } from 'vitest'
test('reads', () => expect(fs.existsSync('left.tmp')).toBeTypeOf('boolean'))
"#,
    ) else {
        return;
    };
    let all = shop.run();
    assert_eq!(all.outcomes.len(), 4, "{}", all.told);
    shop.run().are(&["test/1.test.js", "test/2.test.js"]);
}

#[test]
fn node_test_runs_what_can_be_affected() {
    if !has_node() {
        return;
    }
    let shop = plain_package(
        r#"
-- package.json --
{ "name": "plain", "type": "module", "scripts": { "test": "node --test" } }
-- lib/add.js --
export const add = (a, b) => a + b
-- lib/data.json --
{ "a": 1 }
-- test/add.test.js --
import assert from 'node:assert'
import test from 'node:test'
import { add } from '../lib/add.js'
test('adds', () => assert.equal(add(1, 2), 3))
-- test/data.test.cjs --
const assert = require('node:assert')
const test = require('node:test')
test('answers', () => assert.equal(require('../lib/data.json').a, 1))
-- test/tool.test.js --
import assert from 'node:assert'
import { execFileSync } from 'node:child_process'
import test from 'node:test'
test('starts a program', () => assert.match(execFileSync('cat', ['lib/data.json'], { encoding: 'utf8' }), /a/))
"#,
    );
    let (add, data, tool) = (
        "test/add.test.js",
        "test/data.test.cjs",
        "test/tool.test.js",
    );
    shop.run().are(&[add, data, tool]);
    shop.run().are(&[]);
    shop.replace("lib/add.js", "a + b", "b + a");
    shop.run().are(&[add]);
    shop.replace("lib/data.json", "1", "1.0");
    shop.run().are(&[data, tool]);
    shop.replace("lib/add.js", "b + a", "b - a");
    let ran = shop.run();
    ran.are(&[add]);
    assert_eq!((ran.code, ran.outcomes[add].as_str()), (1, "failed"));
    shop.sh("git checkout -q lib/add.js");
    shop.write("test/new.test.js", "process.exit(3)\n");
    let ran = shop.run();
    ran.are(&[add, "test/new.test.js"]);
    assert_eq!(ran.outcomes["test/new.test.js"], "failed");
    // With words that name files, too.
    shop.sh("rm test/new.test.js");
    let one = ["--", "node", "--test", add];
    shop.run_with(&one).are(&[add]);
    let text = told(&shop.tamis(&["run", "--", "node", "--test", "--test-name-pattern=x"]));
    assert!(text.contains("says itself what runs"), "{text}");
}

/// A script can start vitest several times.
#[test]
fn each_of_several_runs_counts() {
    let Some(shop) = small(
        r#"
-- one.config.js --
export default { test: { include: ['test/a.*'] } }
-- two.config.js --
export default { test: { include: ['test/b.*'], env: { TWO: '1' } } }
"#,
    ) else {
        return;
    };
    shop.write(
        "package.json",
        "{ \"type\": \"module\", \"scripts\": { \"test\": \"vitest run -c one.config.js && vitest run -c \
         two.config.js\" } }\n",
    );
    shop.write(
        "test/b.test.js",
        "import { expect, test } from 'vitest'\ntest('b', () => expect(process.env.TWO).toBe('1'))\n",
    );
    let both = ["test/a.test.js", "test/b.test.js"];
    let words = ["--", "npm", "test"];
    shop.run_with(&words).are(&both);
    shop.run_with(&words).are(&[]);
    shop.replace("src/a.js", "base + 1", "1 + base");
    shop.run_with(&words).are(&both[..1]);
    shop.replace("two.config.js", "'1'", "'2'");
    let ran = shop.run_with(&words);
    assert_eq!(ran.code, 1, "{}", ran.told);
    assert_eq!(ran.outcomes["test/b.test.js"], "failed", "{}", ran.told);
}

/// Handlers of a process's end can set its status, as some libraries for tests do.
#[test]
fn a_status_that_is_set_at_the_end_is_a_failure() {
    if !has_node() {
        return;
    }
    let shop = plain_package(
        r#"
-- package.json --
{ "name": "late", "scripts": { "test": "node --test" } }
-- test/a.test.js --
process.on('exit', () => { process.exitCode = 1 })
-- test/b.test.js --
require('node:test')('b', () => { throw new Error('b') })
"#,
    );
    let ran = shop.run();
    assert_eq!(ran.outcomes["test/a.test.js"], "failed", "{}", ran.told);
    shop.write("test/b.test.js", "require('node:test')('b', () => {})\n");
    let ran = shop.run();
    assert_eq!(ran.code, 1, "{}", ran.told);
    ran.are(&["test/a.test.js", "test/b.test.js"]);
}
