//! The package that the edits are made in.

pub const PACKAGE: &str = r#"
-- package.json --
{
  "name": "demo",
  "type": "module",
  "devDependencies": { "vitest": "*" }
}
-- README.md --
A demo.
-- tsconfig.json --
{ "compilerOptions": { "strict": true } }
-- vitest.config.ts --
import { defineConfig } from 'vitest/config'
import { alias } from './alias.ts'

export default defineConfig({
  resolve: { alias },
  test: { setupFiles: ['./setup.ts'], globalSetup: ['./global.ts'] },
})
-- alias.ts --
import { fileURLToPath } from 'node:url'

export const alias = { '@lib': fileURLToPath(new URL('./src', import.meta.url)) }
-- setup.ts --
import { prepared } from './src/prepared'

globalThis.prepared = prepared
-- global.ts --
import { limit } from './src/limit'

export default function (ctx) {
  process.env.DEMO_LIMIT = String(limit)
}
-- src/prepared.ts --
export const prepared = 1
-- src/limit.ts --
export const limit = 10
-- src/add.ts --
// Adds.
export const add = (a: number, b: number): number => a + b
-- src/sub.ts --
import { add } from './add'

export const sub = (a: number, b: number): number => add(a, -b)
-- src/shapes/index.ts --
export * from './square'
-- src/shapes/square.ts --
import type { Side } from './types'

export const area = (side: Side): number => side * side
-- src/shapes/types.ts --
export type Side = number
-- src/data.json --
{ "answer": 42 }
-- src/text.txt --
text
-- src/lazy.ts --
export const late = () => 'late'
-- src/style.css --
.a { color: red }
-- src/old.cjs --
const { number } = require('./older.cjs')
module.exports = { number }
-- src/older.cjs --
module.exports = { number: 5 }
-- src/tool.sh --
cat "$(dirname "$0")/tool.txt"
-- src/tool.txt --
tool
-- src/job.mjs --
import { parentPort } from 'node:worker_threads'
import { work } from './work.mjs'

parentPort.postMessage(work())
-- src/work.mjs --
export const work = () => 'done'
-- src/pages/one.ts --
export const name = 'one'
-- src/pages/two.ts --
export const name = 'two'
-- src/unused.ts --
export const unused = 1
-- vendor/dep/package.json --
{ "name": "dep", "main": "index.js" }
-- vendor/dep/index.js --
exports.twice = n => n * 2
-- test/add.test.ts --
import { expect, test } from 'vitest'
import { add } from '@lib/add'

test('adds', () => expect(add(1, 2)).toBe(3))
-- test/sub.test.ts --
import { expect, test } from 'vitest'
import { sub } from '../src/sub'

test('subtracts', () => expect(sub(3, 2)).toBe(1))
-- test/mock.test.ts --
import { expect, test, vi } from 'vitest'
import { sub } from '../src/sub'

vi.mock('../src/add', () => ({ add: () => 7 }))
test('is mocked', () => expect(sub(3, 2)).toBe(7))
-- test/shapes.test.ts --
import { expect, test } from 'vitest'
import { area } from '../src/shapes'

test('squares', () => expect(area(3)).toBe(9))
-- test/data.test.ts --
import { expect, test } from 'vitest'
import data from '../src/data.json'

test('answers', () => expect(data.answer).toBe(42))
-- test/text.test.ts --
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const file = name => new URL(`../src/${name}`, import.meta.url)

test('reads', () => expect(readFileSync(file('text.txt'), 'utf8')).toBe('text\n'))
test('misses', () => expect(existsSync(file('absent.txt'))).toBe(false))
-- test/raw.test.ts --
import { expect, test } from 'vitest'
import text from '../src/text.txt?raw'

test('is text', () => expect(text).toContain('te'))
-- test/lazy.test.ts --
import { expect, test } from 'vitest'

test('is late', async () => expect((await import('../src/lazy')).late()).toBe('late'))
-- test/style.test.ts --
import { expect, test } from 'vitest'
import '../src/style.css'

test('has style', () => expect(1).toBe(1))
-- test/old.test.ts --
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'

test('requires', () => expect(createRequire(import.meta.url)('../src/old.cjs').number).toBe(5))
-- test/tool.test.ts --
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

test('starts a tool', () => expect(execFileSync('sh', ['src/tool.sh'], { encoding: 'utf8' })).toBe('tool\n'))
-- test/job.test.ts --
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'

test('works', async () => {
  const worker = new Worker(new URL('../src/job.mjs', import.meta.url))
  expect(await once(worker, 'message')).toEqual(['done'])
})
-- test/pages.test.ts --
import { expect, test } from 'vitest'

const pages = import.meta.glob('../src/pages/*.ts', { eager: true })

test('are two', () => expect(Object.keys(pages).length).toBe(2))
-- test/names.test.ts --
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'

test('are two', () => expect(readdirSync('src/pages').length).toBe(2))
-- test/snap.test.ts --
import { expect, test } from 'vitest'

test('snaps', () => expect({ a: 1 }).toMatchSnapshot())
-- test/__snapshots__/snap.test.ts.snap --
// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html

exports[`snaps 1`] = `
{
  "a": 1,
}
`;
-- test/variable.test.ts --
import { expect, test } from 'vitest'

test('is not set', () => expect(process.env.DEMO).toBe(undefined))
-- test/limit.test.ts --
import { expect, test } from 'vitest'

test('is limited', () => expect(process.env.DEMO_LIMIT).toBe('10'))
-- test/prepared.test.ts --
import { expect, test } from 'vitest'

test('is prepared', () => expect(globalThis.prepared).toBe(1))
-- test/dep.test.ts --
import { twice } from 'dep'
import { expect, test } from 'vitest'

test('doubles', () => expect(twice(2)).toBe(4))
-- test/helped.test.ts --
import { expect, test } from 'vitest'
import { check } from './helper'

test('is helped', () => check(expect, 2))
-- test/helper.ts --
export const check = (expect, n) => expect(n).toBe(2)
"#;

/// All tests of it.
pub const ALL: [&str; 20] = [
    "test/add.test.ts",
    "test/data.test.ts",
    "test/dep.test.ts",
    "test/helped.test.ts",
    "test/job.test.ts",
    "test/lazy.test.ts",
    "test/limit.test.ts",
    "test/mock.test.ts",
    "test/names.test.ts",
    "test/old.test.ts",
    "test/pages.test.ts",
    "test/prepared.test.ts",
    "test/raw.test.ts",
    "test/shapes.test.ts",
    "test/snap.test.ts",
    "test/style.test.ts",
    "test/sub.test.ts",
    "test/text.test.ts",
    "test/tool.test.ts",
    "test/variable.test.ts",
];
