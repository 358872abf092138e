//! Functions that are told apart: an edit of one runs those test files that ran it. The truth is
//! what vitest finds.

use crate::harness::Edit::{Replace, Shell};
use crate::harness::{Edited, Row, Workshop, one_in};

use super::harness::{package, versions, vitest};

const PACKAGE: &str = r#"
-- package.json --
{ "name": "demo", "type": "module", "devDependencies": { "vitest": "*" } }
-- tsconfig.json --
{ "compilerOptions": { "target": "es2022", "jsx": "react-jsx", "jsxImportSource": "./jsx" } }
-- vitest.config.ts --
import { defineConfig } from 'vitest/config'

const shout = {
  name: 'shout',
  transform: {
    filter: { id: /loud\.ts$/ },
    handler: (code, id) => id.endsWith('loud.ts') ? code.replace('quiet', 'loud') : undefined,
  },
}

export default defineConfig({ plugins: [shout], test: { setupFiles: ['./setup.ts'] } })
-- setup.ts --
import { prepare } from './src/prepare'

prepare()
-- src/prepare.ts --
export const prepare = (): void => { globalThis.isPrepared = true }
export const unprepare = (): void => { globalThis.isPrepared = false }
-- src/shape.ts --
import { round, type Rounding } from './round'
import { unit } from './unit'

/** What is outside of functions. */
export enum Kind { Flat, Round }
const NAMES = { [Kind.Flat]: 'flat', [Kind.Round]: 'round' }
let made = 0

export abstract class Shape {
  static count = () => made
  static { made += 0 }
  #kind = Kind.Flat
  label = (before: string, after = '!'): string => `${before} ${this.kind}${after}`
  constructor(protected side: number, readonly rounding?: Rounding) { made++ }
  abstract area(): number
  get kind(): string { return NAMES[this.#kind] }
  set kind(_: string) { throw new TypeError('it is fixed') }
  async later(): Promise<number> { return (await Promise.resolve(this)).area() }
  *sides(): Generator<number> { for (let n = 0; n < 4; n++) yield this.side }
}

export class Square extends Shape {
  area(): number { return round(this.side * this.side) }
  perimeter(): number {
    const add = (sum: number, one: number) => sum + one
    return [...this.sides()].reduce(add, 0)
  }
}

export function scale(shape: Square, by: number): Square
export function scale(shape: Square, by: number = unit()): Square {
  return new Square((shape as any).side * by)
}

namespace Inner { export const twice = (n: number) => n * 2 }
export const double = (n: number): number => Inner.twice(n)
-- src/round.ts --
export interface Rounding { digits: number }
export const round = (n: number, rounding?: Rounding): number => Math.round(n)
export function up(n: number) { return Math.ceil(n) }
export function down(n: number) { return Math.floor(n) }
-- src/unit.ts --
globalThis.units = (globalThis.units ?? 0) + 1
export const unit = () => 1
-- src/ünï.ts --
export const ö = () => 'ö', 𝒳 = () => '𝒳'
export const after = () => 'after', never = () => 'never'
-- src/loud.ts --
export const quiet = () => 'quiet'
export const never = () => 'never'
-- src/page.tsx --
export const Page = () => <p>page</p>
export const Other = () => <p>other</p>
-- jsx/jsx-runtime.ts --
export const jsx = (tag: string, props: object) => JSON.stringify([tag, props])
export const jsxs = (tag: string, props: object) => JSON.stringify([tag, props, 's'])
export const Fragment = 'f'
-- jsx/jsx-dev-runtime.ts --
export const jsxDEV = (tag: string, props: object) => JSON.stringify([tag, props])
export const Fragment = 'f'
-- src/text.ts --
export const shown = () => 1
export const other = () => 2
-- src/mocked.ts --
export const used = () => 'real'
export const unused = () => 'unused'
-- test/area.test.ts --
import { expect, test } from 'vitest'
import { Square } from '../src/shape'

test('area', () => expect(new Square(2).area()).toBe(4))
test('is prepared', () => expect(globalThis.isPrepared).toBe(true))
-- test/label.test.ts --
import { expect, test } from 'vitest'
import { Shape, Square } from '../src/shape'

test('label', () => expect(new Square(1).label('is')).toBe('is flat!'))
test('counts', () => expect(Shape.count()).toBe(1))
-- test/perimeter.test.ts --
import { expect, test } from 'vitest'
import { Square, scale } from '../src/shape'

test('perimeter', () => expect(scale(new Square(1), 2).perimeter()).toBe(8))
-- test/later.test.ts --
import { expect, test } from 'vitest'
import { Square, double } from '../src/shape'

test('later', async () => expect(await new Square(3).later()).toBe(9))
test('twice', () => expect(double(2)).toBe(4))
-- test/round.test.ts --
import { expect, test } from 'vitest'
import { down, up } from '../src/round'

test('up', () => expect(up(1.2)).toBe(2))
test('has parameters', () => expect(down.length).toBe(1))
-- test/unï.test.ts --
import { expect, test } from 'vitest'
import { after, ö } from '../src/ünï'

test('ö', () => expect(ö() + after()).toBe('öafter'))
-- test/loud.test.ts --
import { expect, test } from 'vitest'
import * as loud from '../src/loud'

test('is loud', () => expect(loud.loud()).toBe('quiet'))
-- test/page.test.tsx --
import { expect, test } from 'vitest'
import { Page } from '../src/page'

test('page', () => expect(Page()).toContain('page'))
-- test/text.test.ts --
import { expect, test } from 'vitest'
import { other, shown } from '../src/text'

test('text', () => expect(`${shown}`).toContain('1'))
test('name', () => expect(other.name).toBe('other'))
-- test/mocked.test.ts --
import { expect, test, vi } from 'vitest'
import { unused, used } from '../src/mocked'

vi.mock('../src/mocked')
test('is mocked', () => { vi.mocked(used).mockReturnValue('mock'); expect(used()).toBe('mock') })
-- test/prepare.test.ts --
import { afterAll, expect, test } from 'vitest'
import { unprepare } from '../src/prepare'

afterAll(() => unprepare())
test('is prepared', () => expect(globalThis.isPrepared).toBe(true))
"#;

const ALL: [&str; 11] = [
    "test/area.test.ts",
    "test/label.test.ts",
    "test/later.test.ts",
    "test/loud.test.ts",
    "test/mocked.test.ts",
    "test/page.test.tsx",
    "test/perimeter.test.ts",
    "test/prepare.test.ts",
    "test/round.test.ts",
    "test/text.test.ts",
    "test/unï.test.ts",
];

/// Those that load `shape.ts`.
const SHAPES: [&str; 4] = [
    "test/area.test.ts",
    "test/label.test.ts",
    "test/later.test.ts",
    "test/perimeter.test.ts",
];

const ROWS: &[Row] = &[
    ("nothing", Shell("true"), ""),
    (
        "a method",
        Replace(
            "src/shape.ts",
            "round(this.side * this.side)",
            "round(this.side ** 3)",
        ),
        "test/area.test.ts test/later.test.ts",
    ),
    (
        "an arrow function in a field",
        Replace("src/shape.ts", "${after}`", "${after}?`"),
        "test/label.test.ts",
    ),
    (
        "a parameter's default",
        Replace("src/shape.ts", "after = '!'", "after = '?'"),
        "test/label.test.ts",
    ),
    (
        "a constructor",
        Replace("src/shape.ts", "{ made++ }", "{ made += 2 }"),
        "shapes",
    ),
    (
        "a getter",
        Replace("src/shape.ts", "return NAMES[this.#kind]", "return 'none'"),
        "test/label.test.ts",
    ),
    (
        "a setter that nobody calls",
        Replace("src/shape.ts", "it is fixed", "it stays"),
        "",
    ),
    (
        "an async method",
        Replace("src/shape.ts", "(await Promise.resolve(this)).area()", "1"),
        "test/later.test.ts",
    ),
    (
        "a generator",
        Replace("src/shape.ts", "n < 4", "n < 3"),
        "test/perimeter.test.ts",
    ),
    (
        "a function in a method",
        Replace("src/shape.ts", "sum + one", "sum - one"),
        "test/perimeter.test.ts",
    ),
    (
        "a function with overloads",
        Replace("src/shape.ts", ".side * by", ".side + by"),
        "test/perimeter.test.ts",
    ),
    (
        "a function of a static field",
        Replace("src/shape.ts", "() => made", "() => made + 1"),
        "test/label.test.ts",
    ),
    (
        "a static block",
        Replace("src/shape.ts", "made += 0", "made += 1"),
        "shapes",
    ),
    (
        "a field",
        Replace("src/shape.ts", "#kind = Kind.Flat", "#kind = Kind.Round"),
        "shapes",
    ),
    (
        "an enumeration",
        Replace("src/shape.ts", "{ Flat, Round }", "{ Round, Flat }"),
        "shapes",
    ),
    (
        "a function in a namespace",
        Replace("src/shape.ts", "n * 2", "n * 3"),
        "test/later.test.ts",
    ),
    (
        "a comment",
        Replace("src/shape.ts", "/** What is", "/** All that is"),
        "",
    ),
    (
        "types",
        Replace(
            "src/shape.ts",
            "by: number): Square\n",
            "by: 1 | 2): Square\n",
        ),
        "",
    ),
    (
        "an interface",
        Replace("src/round.ts", "{ digits: number }", "{ digits: bigint }"),
        "",
    ),
    (
        "an import is used for the first time",
        Replace(
            "src/round.ts",
            "export const round",
            "import { unit } from './unit'\nexport const one = () => unit()\nexport const round",
        ),
        "shapes test/round.test.ts",
    ),
    (
        "the only use of an import goes",
        Replace("src/shape.ts", "= unit()", "= 1"),
        "shapes",
    ),
    (
        "a function that is only imported",
        Replace("src/round.ts", "Math.floor", "Math.trunc"),
        "",
    ),
    (
        "the number of its parameters",
        Replace(
            "src/round.ts",
            "down(n: number)",
            "down(n: number, m: number)",
        ),
        "shapes test/round.test.ts",
    ),
    (
        "its name",
        Replace("src/round.ts", "function down", "function under"),
        "shapes test/round.test.ts",
    ),
    (
        "a function behind letters of two bytes",
        Replace("src/ünï.ts", "'ö'", "'o'"),
        "test/unï.test.ts",
    ),
    (
        "one behind letters of two units",
        Replace("src/ünï.ts", "'after'", "'before'"),
        "test/unï.test.ts",
    ),
    (
        "one that nobody calls",
        Replace("src/ünï.ts", "'𝒳'", "'X'"),
        "",
    ),
    (
        "another one",
        Replace("src/ünï.ts", "'never'", "'ever'"),
        "",
    ),
    (
        "a source that a plug-in changes",
        Replace("src/loud.ts", "'never'", "'ever'"),
        "test/loud.test.ts",
    ),
    (
        "an element that is shown",
        Replace("src/page.tsx", ">page<", ">side<"),
        "test/page.test.tsx",
    ),
    (
        "an element that is not",
        Replace("src/page.tsx", ">other<", ">another<"),
        "",
    ),
    (
        "a function whose text is shown",
        Replace("src/text.ts", "=> 1", "=> 3"),
        "test/text.test.ts",
    ),
    (
        "one of the same source",
        Replace("src/text.ts", "=> 2", "=> 4"),
        "test/text.test.ts",
    ),
    (
        "a function that is mocked",
        Replace("src/mocked.ts", "'real'", "'unreal'"),
        "",
    ),
    (
        "a function that setup runs",
        Replace("src/prepare.ts", "isPrepared = true", "isPrepared = 1"),
        "all",
    ),
    (
        "one that runs after all tests",
        Replace("src/prepare.ts", "isPrepared = false", "isPrepared = 0"),
        "test/prepare.test.ts",
    ),
    (
        "a test",
        Replace("test/label.test.ts", "'is flat!'", "'is round!'"),
        "test/label.test.ts",
    ),
    (
        "a comment in a test",
        Replace("test/label.test.ts", "test('label'", "// it\ntest('label'"),
        "",
    ),
    (
        "functions change places",
        Replace(
            "src/round.ts",
            "export function down(n: number) { return Math.floor(n) }\n",
            "",
        ),
        "shapes test/round.test.ts",
    ),
    (
        "a module of which no code is left",
        Shell("echo 'export {}' > src/prepare.ts"),
        "all",
    ),
    (
        "a source is no syntax",
        Replace("src/round.ts", "Math.ceil(n)", "Math.ceil(n"),
        "shapes test/round.test.ts",
    ),
];

#[test]
fn edits_of_functions_run_who_ran_them() {
    for version in versions() {
        let edited = Edited {
            shop: package(PACKAGE, version),
            kept: &["node_modules"],
            groups: &[("all", &ALL), ("shapes", &SHAPES)],
            is_exact: version == &versions()[0],
            plain: vitest,
        };
        edited.check(ROWS.iter().step_by(one_in(9)));
    }
}

/// A package whose test runs one of two functions.
fn small(files: &str) -> Option<Workshop> {
    let version = versions().first()?;
    let common = r#"
-- package.json --
{ "name": "small", "type": "module", "devDependencies": { "vitest": "*" } }
-- src/words.js --
export const said = () => 1
export const t = word => word
export const other = () => t('hello')
"#;
    Some(package(&format!("{common}{files}"), version))
}

#[test]
fn a_test_that_breaks_what_the_agent_calls_does_no_harm() {
    let Some(shop) = small(
        r#"
-- test/broken.test.js --
import crypto from 'node:crypto'
import path from 'node:path'
import { expect, test, vi } from 'vitest'
import { said } from '../src/words.js'
const never = () => { throw new Error('never') }
test('calls nothing', () => {
  const spy = vi.spyOn(Reflect, 'apply')
  String(said)
  expect(spy).not.toHaveBeenCalled()
  spy.mockRestore()
})
test('breaks', () => {
  expect(said()).toBe(1)
  crypto.createHash = never
  path.join = never
  path.isAbsolute = never
})
"#,
    ) else {
        return;
    };
    assert_eq!(shop.run().outcomes["test/broken.test.js"], "passed");
    shop.run().are(&[]);
    shop.replace("src/words.js", "=> 1", "=> 2");
    let ran = shop.run();
    ran.are(&["test/broken.test.js"]);
    assert_eq!(
        ran.outcomes["test/broken.test.js"], "failed",
        "{}",
        ran.told
    );
}

#[test]
fn a_source_that_a_plug_in_looks_at_counts_as_a_whole() {
    let Some(shop) = small(
        r#"
-- vitest.config.js --
const words = []
const look = {
  name: 'look',
  enforce: 'pre',
  transform(code, id) {
    if (id.endsWith('keys.js')) return { code: `export default ${JSON.stringify(words)}`, map: null }
    for (const [, word] of code.matchAll(/t\('(\w+)'\)/g)) words.push(word)
  },
}
export default { plugins: [look] }
-- src/keys.js --
-- test/keys.test.js --
import { expect, test } from 'vitest'
import { said } from '../src/words.js'
test('keys', async () => {
  expect(said()).toBe(1)
  expect((await import('../src/keys.js')).default).toEqual(['hello'])
})
"#,
    ) else {
        return;
    };
    assert_eq!(shop.run().outcomes["test/keys.test.js"], "passed");
    shop.replace("src/words.js", "hello", "bye");
    let ran = shop.run();
    assert_eq!(ran.outcomes["test/keys.test.js"], "failed", "{}", ran.told);
}

#[test]
fn where_plug_ins_cannot_be_watched_files_count() {
    let Some(shop) = small(
        r#"
-- vitest.config.js --
export default { plugins: [Object.freeze({ name: 'frozen', transform() {} })] }
-- test/said.test.js --
import { expect, test } from 'vitest'
import { said } from '../src/words.js'
test('said', () => expect(said()).toBe(1))
"#,
    ) else {
        return;
    };
    assert_eq!(shop.run().outcomes["test/said.test.js"], "passed");
    shop.run().are(&[]);
    shop.replace("src/words.js", "hello", "bye");
    shop.run().are(&["test/said.test.js"]);
}

#[test]
fn a_mistake_in_a_function_that_did_not_run_runs_who_loads_it() {
    let Some(shop) = small(
        r#"
-- test/said.test.js --
import { expect, test } from 'vitest'
import { said } from '../src/words.js'
test('said', () => expect(said()).toBe(1))
"#,
    ) else {
        return;
    };
    assert_eq!(shop.run().outcomes["test/said.test.js"], "passed");
    shop.replace(
        "src/words.js",
        "=> t('hello')",
        "=> { const a = 1; const a = 2 }",
    );
    let ran = shop.run();
    assert_eq!(ran.outcomes["test/said.test.js"], "error", "{}", ran.told);
}
