// A reporter of vitest that leaves out test files, and tells which there are and how they ended.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const out = process.env.TAMIS_NODE

/** A module by its path. Up to vitest 3 it is vitest that imports it, which reads no URL with spaces. */
const load = file => import(/[%?#]/.test(file) ? pathToFileURL(file).href : file)
const mark = name => fs.existsSync(path.join(out, 'marks', name))

/** The file of a test specification; up to vitest 1 it was a pair. */
const fileOf = spec => (Array.isArray(spec) ? spec[1] : spec.moduleId ?? spec[1])

export default class Reporter {
  async onInit(vitest) {
    this.vitest = vitest
    this.tests = null
    const { leftOut } = JSON.parse(fs.readFileSync(path.join(out, 'node.json'), 'utf8'))
    if (process.env.TAMIS_NODE_REPORTERS !== 'typed') await this.addReporters()
    this.leaveOut(new Set(leftOut))
    this.watchFunctions()
    const { coverageProvider } = vitest
    if (coverageProvider?.generateCoverage) {
      const generate = coverageProvider.generateCoverage
      coverageProvider.generateCoverage = function () {
        // It reads sources that no test used.
        process.env.TAMIS_NODE_PHASE = 'end'
        mark('end')
        return Reflect.apply(generate, this, arguments)
      }
    }
    mark('find')
  }

  /** The servers that make modules, one for each project. */
  servers() {
    const { vitest } = this
    const projects = vitest.projects ?? []
    return new Set([vitest, ...projects].map(one => one.vite ?? one.server).filter(Boolean))
  }

  /** Has functions told apart. A source that a plug-in of the project changes, or looks at, counts as a whole: what it
   * makes of a function may stand elsewhere. */
  watchFunctions() {
    const { coverage, experimental } = this.vitest.config
    const servers = [...this.servers()]
    const injects = servers.some(({ config }) => config?.oxc?.inject)
    // What was made in an earlier run nobody looks at again.
    if (experimental?.fsModuleCache || injects) return
    this.made = new Set()
    try {
      for (const server of servers) {
        const ofEnvironments = Object.values(server.environments ?? {}).flatMap(one => one.plugins ?? [])
        for (const plugin of new Set([...(server.config?.plugins ?? []), ...ofEnvironments])) {
          if (isKnown(plugin.name)) continue
          // It is told of all modules.
          if (plugin.moduleParsed) return
          const changes = LOOKS_AT_ONE.test(plugin.name)
          watchHook(plugin, 'load', this.made, true)
          watchHook(plugin, 'transform', this.made, changes)
        }
      }
    } catch {
      return
    }
    const isHeard = coverage?.enabled && coverage.provider !== 'istanbul'
    process.env.TAMIS_NODE_FUNCTIONS = isHeard ? 'heard' : 'asked'
  }

  /** Takes out test files that are left out, when vitest has found all. */
  leaveOut(leftOut) {
    const { vitest } = this
    const { runFiles } = vitest
    vitest.runFiles = async (specs, ...rest) => {
      mark('run')
      this.tests = [...new Set(Array.from(specs, fileOf))]
      const ours = Array.from(specs).filter(spec => !leftOut.has(fileOf(spec)))
      if (ours.length === 0 && this.tests.length > 0) {
        this.tell([])
        return { testModules: [], unhandledErrors: [] }
      }
      return Reflect.apply(runFiles, vitest, [ours, ...rest])
    }
  }

  /** Those that vitest would have without this one, which was added to the command line. */
  async addReporters() {
    const { vitest } = this
    const configured = (vitest.vite ?? vitest.server)?.config?.test?.reporters
    let wanted = [configured ?? []].flat(1)
    if (wanted.length === 2 && typeof wanted[0] === 'string' && isOptions(wanted[1])) wanted = [wanted]
    if (wanted.length === 0) {
      wanted = ['default']
      if (process.env.GITHUB_ACTIONS === 'true') wanted.push('github-actions')
    }
    for (const one of wanted) {
      const reporter = await this.made(one)
      vitest.reporters.push(reporter)
      await reporter.onInit?.(vitest)
    }
  }

  async made(wanted) {
    const [name, options] = Array.isArray(wanted) ? wanted : [wanted, {}]
    if (typeof name !== 'string') return name
    const require = createRequire(process.env.TAMIS_NODE_VITEST)
    const of = async from => (await load(require.resolve(from))).ReportersMap
    // Before vitest 3 they were elsewhere, and from 4.1 on it warns of that.
    const ReportersMap = (await of('vitest/node')) ?? (await of('vitest/reporters'))
    if (name in ReportersMap) return new ReportersMap[name](options)
    const file = /^\.\.?\//.test(name) ? path.resolve(this.vitest.config.root, name) : name
    const found = path.isAbsolute(file) ? file : createRequire(path.join(this.vitest.config.root, 'x.js')).resolve(file)
    const { default: Custom } = await load(found)
    return new Custom(options)
  }

  /** Since vitest 3. */
  onTestRunEnd(modules, errors) {
    this.end(errors)
  }

  /** Before. */
  onFinished(files, errors) {
    this.end(errors)
  }

  end(errors = []) {
    mark('end')
    const unhandled = Array.from(errors, error => error?.VITEST_TEST_PATH ?? null)
    const files = this.vitest.state.getFiles()
    const ended = files.map(file => ({
      file: file.filepath,
      state: file.result?.state ?? file.mode,
      seconds: (file.result?.duration ?? 0) / 1000,
      ran: tests(file).length,
      skipped: tests(file).filter(test => test.mode !== 'run' || test.result?.state === 'skip').length,
    }))
    this.tell(ended, unhandled, this.edges())
  }

  /** Folders that vitest empties before it runs tests: what earlier runs left there reaches none. */
  emptied() {
    const { coverage, root } = this.vitest.config
    const isEmptied = coverage?.enabled && coverage.clean !== false && coverage.reportsDirectory
    return isEmptied ? [path.resolve(root, coverage.reportsDirectory)] : []
  }

  /** For each module what vite knows it to need, and what it does not import: what a plug-in read to
   * make it. */
  edges() {
    const found = new Map()
    for (const server of this.servers()) {
      const graphs = server?.environments
        ? Object.values(server.environments).map(one => one.moduleGraph)
        : [server?.moduleGraph]
      for (const graph of graphs) {
        for (const module of graph?.idToModuleMap?.values() ?? []) {
          const made = module.transformResult ?? module.ssrTransformResult
          const imports = new Set([...(made?.deps ?? []), ...(made?.dynamicDeps ?? [])])
          for (const needed of module.importedModules ?? []) {
            const isImport = imports.has(needed.url) || imports.has(needed.id)
            if (!isImport && module.file && path.isAbsolute(needed.file ?? '')) {
              if (!found.has(module.file)) found.set(module.file, new Set())
              found.get(module.file).add(needed.file)
            }
          }
        }
      }
    }
    return Array.from(found, ([file, needs]) => [file, [...needs]])
  }

  tell(ended, unhandled = [], edges = []) {
    const told = { tests: this.tests, ended, unhandled, edges, made: [...(this.made ?? [])], emptied: this.emptied() }
    fs.writeFileSync(path.join(out, `told-${process.pid}.json`), JSON.stringify(told))
  }
}

/** Plug-ins that come with vite and vitest, which leave each function where it was, or say where it is. Other packages give
 * theirs names of this kind, too. */
const OF_VITE = [
  'asset', 'asset-import-meta-url', 'build-html', 'client-inject', 'css', 'css-analysis', 'css-post', 'define',
  'dynamic-import-vars', 'esbuild', 'html-inline-proxy', 'import-analysis', 'import-glob', 'json',
  'modulepreload-polyfill', 'optimized-deps', 'oxc', 'wasm-fallback', 'wasm-helper', 'worker', 'worker-import-meta-url',
].map(name => `vite:${name}`)
const OF_VITEST = [
  'automock', 'browser:context', 'coverage-transform', 'css-disable', 'css-empty-post', 'environments-module-runner',
  'meta-env-replacer', 'mocks', 'normalize-optimizer', 'normalize-url', 'project', 'project:name', 'project:server',
  'resolve-core', 'resolve-root', 'tags',
].map(name => `vitest:${name}`)
const OF_ROLLDOWN = [
  'oxc-runtime', 'vite-alias', 'vite-dynamic-import-vars', 'vite-import-glob', 'vite-json', 'vite-resolve', 'vite-wasm-helper',
].map(name => `builtin:${name}`)
const KNOWN = new Set(['alias', 'vitest', ...OF_ROLLDOWN, ...OF_VITE, ...OF_VITEST])
const isKnown = name => KNOWN.has(name)

/** Those of frameworks, which make one module of one source, and nothing of others. */
const LOOKS_AT_ONE = /^(vite:(vue|vue-jsx|react-[a-z-]+|preact-jsx)|solid|vite-plugin-svelte(:[a-z-]+)?)$/

/** Notes down for which files a hook of a plug-in was asked; with `changes`, for which it had a text. */
function watchHook(plugin, name, made, changes) {
  const hook = plugin[name]
  const original = typeof hook === 'function' ? hook : hook?.handler
  if (typeof original !== 'function') return
  const watched = async function (...args) {
    const result = await Reflect.apply(original, this, args)
    const id = name === 'load' ? args[0] : args[1]
    if (!changes || (result !== null && result !== undefined)) made.add(String(id).split('?')[0])
    return result
  }
  if (hook === original) plugin[name] = watched
  else hook.handler = watched
}

const isOptions = value => typeof value === 'object' && value !== null && !('onInit' in value) && value.constructor === Object

/** All tests of a file or suite. */
function tests(suite) {
  return (suite.tasks ?? []).flatMap(task => (task.type === 'suite' ? tests(task) : [task]))
}
