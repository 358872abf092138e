//! Sources that somebody reads, and that are modules of other test files: they count for all
//! who may know what they hold.

use super::harness::{package, package_with, versions};
use crate::harness::Workshop;

/// One test file has the module; what the other one finds depends on its text.
fn with(files: &str) -> Option<Workshop> {
    let version = versions().first()?;
    let common = r#"
-- package.json --
{ "name": "reads", "type": "module", "devDependencies": { "vitest": "*" } }
-- src/known.js --
export const known = 1
-- test/a.test.js --
import { expect, test } from 'vitest'
import { known } from '../src/known.js'
test('a', () => expect(known).toBeGreaterThan(0))
-- test/z.test.js --
import { expect, test } from 'vitest'
test('z', () => expect(1).toBe(1))
"#;
    Some(package(&format!("{common}{files}"), version))
}

fn knows(shop: &Workshop, all: &[&str]) {
    shop.run();
    shop.replace("src/known.js", "1", "2");
    let ran = shop.run();
    ran.are(all);
    assert_eq!(ran.outcomes["test/text.test.js"], "failed", "{}", ran.told);
}

#[test]
fn what_a_test_in_a_thread_reads() {
    let Some(shop) = with(
        r#"
-- vitest.config.js --
export default { test: { pool: 'threads' } }
-- test/text.test.js --
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
test('text', () => expect(readFileSync('src/known.js', 'utf8')).toBe('export const known = 1\n'))
"#,
    ) else {
        return;
    };
    // Nobody can tell which thread read it.
    let all = ["test/a.test.js", "test/text.test.js", "test/z.test.js"];
    knows(&shop, &all);
}

#[test]
fn what_runs_before_all_tests_reads() {
    let Some(shop) = with(
        r#"
-- vitest.config.js --
export default { test: { globalSetup: './global.js' } }
-- global.js --
import { readFile } from 'node:fs/promises'
export default async ({ provide }) => provide('text', await readFile('src/known.js', 'utf8'))
-- test/text.test.js --
import { expect, inject, test } from 'vitest'
test('text', () => expect(inject('text')).toBe('export const known = 1\n'))
"#,
    ) else {
        return;
    };
    let all = ["test/a.test.js", "test/text.test.js", "test/z.test.js"];
    knows(&shop, &all);
}

#[test]
fn what_a_plug_in_reads_to_make_another_module() {
    for tells in [false, true] {
        let watch = if tells {
            "this.addWatchFile(fileURLToPath(new URL('./src/known.js', import.meta.url)))"
        } else {
            ""
        };
        let Some(shop) = with(&format!(
            r#"
-- vitest.config.js --
import {{ readFileSync }} from 'node:fs'
import {{ fileURLToPath }} from 'node:url'
const plugin = {{
  name: 'includes',
  transform(code, id) {{
    if (!id.endsWith('made.js')) return
    {watch}
    return code.replace('TEXT', JSON.stringify(readFileSync('src/known.js', 'utf8')))
  }},
}}
export default {{ plugins: [plugin] }}
-- src/made.js --
export const text = TEXT
-- test/text.test.js --
import {{ expect, test }} from 'vitest'
import {{ text }} from '../src/made.js'
test('text', () => expect(text).toBe('export const known = 1\n'))
"#
        )) else {
            return;
        };
        let all = ["test/a.test.js", "test/text.test.js", "test/z.test.js"];
        knows(&shop, &all);
    }
}

#[test]
fn a_description_of_a_package_is_data_of_one_test_and_means_more_to_another() {
    let Some(version) = versions().first() else {
        return;
    };
    let shop = package(
        r#"
-- package.json --
{ "name": "top", "type": "module", "devDependencies": { "vitest": "*" } }
-- vendor/dep/package.json --
{ "name": "dep", "type": "module", "version": "1.0.0", "exports": "./one.js" }
-- vendor/dep/one.js --
export const number = 1
-- vendor/dep/two.js --
export const number = 2
-- test/a.test.js --
import { expect, test } from 'vitest'
import { version } from '../vendor/dep/package.json'
test('a', () => expect(version).toBe('1.0.0'))
-- test/b.test.js --
import { expect, test } from 'vitest'
import { number } from 'dep'
test('b', () => expect(number).toBe(1))
"#,
        version,
    );
    shop.run().are(&["test/a.test.js", "test/b.test.js"]);
    shop.replace("vendor/dep/package.json", "one.js", "two.js");
    let ran = shop.run();
    assert_eq!(ran.outcomes["test/b.test.js"], "failed", "{}", ran.told);
}

#[test]
fn a_module_that_goes_matters_where_it_is_mocked() {
    let Some(shop) = with(
        r#"
-- src/user.js --
import { known } from './known'
export const user = known
-- src/known/index.js --
export const known = 7
-- test/text.test.js --
import { expect, test, vi } from 'vitest'
import { user } from '../src/user.js'
vi.mock('../src/known.js', () => ({ known: 3 }))
test('mocked', () => expect(user).toBe(3))
"#,
    ) else {
        return;
    };
    shop.run();
    shop.sh("rm src/known.js && sed -i 's/known.js/known/' test/a.test.js");
    let ran = shop.run();
    assert_eq!(ran.outcomes["test/text.test.js"], "failed", "{}", ran.told);
}

#[test]
fn what_a_program_reads_that_runs_before_all_tests() {
    let Some(shop) = with(
        r#"
-- vitest.config.js --
export default { test: { globalSetup: './global.js' } }
-- global.js --
import { execFileSync } from 'node:child_process'
export default ({ provide }) => provide('text', execFileSync('cat', ['src/known.js'], { encoding: 'utf8' }))
-- test/text.test.js --
import { expect, inject, test } from 'vitest'
test('text', () => expect(inject('text')).toBe('export const known = 1\n'))
"#,
    ) else {
        return;
    };
    let all = ["test/a.test.js", "test/text.test.js", "test/z.test.js"];
    knows(&shop, &all);
}

/// Who wrote it runs in one process, and the main process hands it to the other one.
#[test]
fn a_module_that_a_test_makes() {
    let Some(shop) = with(
        r#"
-- vitest.config.js --
export default { test: { fileParallelism: false, sequence: { sequencer: (await import('./order.js')).default } } }
-- order.js --
import { BaseSequencer } from 'vitest/node'
export default class extends BaseSequencer {
  async sort(files) {
    return files.sort((a, b) => (a.moduleId < b.moduleId ? -1 : 1))
  }
}
-- src/number.txt --
1
-- test/m.test.js --
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { test } from 'vitest'
test('makes', () => {
  mkdirSync('dist', { recursive: true })
  writeFileSync('dist/made.js', `export const made = ${readFileSync('src/number.txt', 'utf8')}`)
})
-- test/n.test.js --
import { expect, test } from 'vitest'
import { made } from '../dist/made.js'
test('uses', () => expect(made).toBe(1))
"#,
    ) else {
        return;
    };
    let first = shop.run();
    assert_eq!(first.code, 0, "{}", first.told);
    shop.write("src/number.txt", "2\n");
    let ran = shop.run();
    assert_eq!(ran.outcomes["test/n.test.js"], "failed", "{}", ran.told);
}

/// vitest lists the folder to empty it, and each run leaves other files there.
#[test]
fn what_earlier_runs_left_in_the_folder_of_coverage_reaches_no_test() {
    let Some(version) = versions().first() else {
        return;
    };
    let files = r#"
-- package.json --
{ "name": "covered", "type": "module", "devDependencies": { "vitest": "*" } }
-- vitest.config.js --
export default { test: { coverage: { enabled: true, provider: 'v8' } } }
-- src/a.js --
export const a = () => 1
-- src/b.js --
export const b = () => 1
-- test/a.test.js --
import { expect, test } from 'vitest'
import { a } from '../src/a.js'
test('a', () => expect(a()).toBeGreaterThan(0))
-- test/b.test.js --
import { expect, test } from 'vitest'
import { b } from '../src/b.js'
test('b', () => expect(b()).toBeGreaterThan(0))
"#;
    let tools = format!("vitest@{version} @vitest/coverage-v8@{version}");
    let shop = package_with(files, &tools);
    shop.run();
    for (file, from, to) in [
        ("a", "1", "2"),
        ("b", "1", "2"),
        ("a", "2", "3"),
        ("b", "2", "0"),
    ] {
        shop.replace(&format!("src/{file}.js"), from, to);
        let test = format!("test/{file}.test.js");
        let ran = shop.run();
        ran.are(&[&test]);
        let fails = to == "0";
        let outcome = if fails { "failed" } else { "passed" };
        assert_eq!(ran.outcomes[&test], outcome, "{}", ran.told);
        let report = shop.root().join("coverage/index.html");
        assert_eq!(report.is_file(), !fails, "{}", ran.told);
    }
}
