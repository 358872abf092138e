'use strict'
// Joins jest: leaves out test files when it has found all, tells which there are and how they
// ended, and marks the phases of its main process. Loaded by `agent.cjs` in that process.

const fs = require('node:fs')
const Module = require('node:module')
const path = require('node:path')

module.exports = ({ out, mark, plan }) => {
  const found = new Set()
  let ended = []

  /** Has child processes that begin from now on take part in a phase. */
  const phase = name => {
    process.env.TAMIS_NODE_PHASE = name
    mark(name || 'run')
  }

  /** Marks where jest looks at all files of the project, also those that no test needs. */
  const duringMap = ({ default: HasteMap }) => {
    const { build } = HasteMap.prototype
    HasteMap.prototype.build = async function () {
      phase('list')
      try {
        return await Reflect.apply(build, this, arguments)
      } finally {
        phase('')
      }
    }
  }

  const duringCoverage = ({ CoverageReporter }) => {
    const { onRunComplete } = CoverageReporter.prototype
    CoverageReporter.prototype.onRunComplete = function () {
      // It reads sources that no test used.
      phase('end')
      return Reflect.apply(onRunComplete, this, arguments)
    }
  }

  const tell = () => {
    const told = { tests: [...found], ended, unhandled: [], edges: [] }
    fs.writeFileSync(path.join(out, `told-${process.pid}.json`), JSON.stringify(told))
  }

  /** How a test file ended, in the words that vitest has for it. */
  const ending = result => {
    const tests = result.testResults ?? []
    const skipped = tests.filter(test => ['pending', 'skipped', 'todo', 'disabled'].includes(test.status)).length
    const failed = result.numFailingTests > 0 || result.testExecError || result.failureMessage
    return {
      file: result.testFilePath,
      state: failed ? 'fail' : result.skipped ? 'skip' : 'pass',
      seconds: Math.max(0, (result.perfStats?.end ?? 0) - (result.perfStats?.start ?? 0)) / 1000,
      ran: tests.length,
      skipped,
    }
  }

  const duringRun = core => {
    const { getTestPaths } = core.SearchSource.prototype
    const leftOut = new Set(plan().leftOut)
    core.SearchSource.prototype.getTestPaths = async function () {
      mark('find')
      const result = await Reflect.apply(getTestPaths, this, arguments)
      mark('run')
      for (const test of result.tests) found.add(test.path)
      const tests = result.tests.filter(test => !leftOut.has(test.path))
      return { ...result, tests }
    }
    return new Proxy(core, {
      get(target, name, receiver) {
        const value = Reflect.get(target, name, receiver)
        if (name !== 'runCLI') return value
        return async (argv, projects) => {
          // Where all are left out jest would say that it found none, and fail.
          const passWithNoTests = argv.passWithNoTests ?? leftOut.size > 0
          // Nobody sees what a server outside of this run reads.
          const done = await value({ ...argv, passWithNoTests, watchman: false }, projects)
          ended = done.results.testResults.map(ending)
          tell()
          return done
        }
      },
    })
  }

  const joined = new Map()
  const { _load } = Module
  const wanted = { '@jest/core': duringRun, 'jest-haste-map': duringMap, '@jest/reporters': duringCoverage }
  Module._load = function (request) {
    const loaded = Reflect.apply(_load, this, arguments)
    const join = wanted[request]
    if (!join) return loaded
    if (!joined.has(loaded)) joined.set(loaded, join(loaded) ?? loaded)
    return joined.get(loaded)
  }
}
