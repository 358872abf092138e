//! Sources that somebody reads, and that are modules of other test files: they count for all
//! who may know what they hold.

use super::harness::{package, versions};
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
