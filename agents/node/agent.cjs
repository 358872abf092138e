'use strict'
// The agent inside Node: every Node process of a test run loads it first (`--require`).
//
// It writes down which sources run and in which process, thread and context, and tells the
// supervisor, which sees every use of a file, where one part ends and the next begins. What
// this agent does not see is not lost: it then counts for all tests.

const childProcess = require('node:child_process')
const fs = require('node:fs')
const Module = require('node:module')
const path = require('node:path')
const url = require('node:url')
const vm = require('node:vm')
const workers = require('node:worker_threads')

/** The folder of this run. */
const out = process.env.TAMIS_NODE

// What tests replace later is not what is called here.
const exists = fs.existsSync
const open = fs.openSync
const write = fs.writeSync
const stringify = JSON.stringify

/** A mark is a path that is looked for: the supervisor sees that, in order with everything else. */
const mark = name => exists(path.join(out, 'marks', name))

let log
let waiting = ''
let waitsForEnd = false
/** Writes a line of what this thread did. Where a test has put other files in place of these, it waits. */
const tell = line => {
  if (line) waiting += stringify(line) + '\n'
  try {
    log ??= open(path.join(out, 'ran', `${process.pid}-${workers.threadId}`), 'a')
    write(log, waiting)
    waiting = ''
  } catch {
    if (!waitsForEnd) process.once('exit', () => waiting && tell())
    waitsForEnd = true
  }
}

/** The path of a source by the name that it is run under; null if it is no file. */
const fileOf = name => {
  if (typeof name !== 'string') return null
  let file = name
  if (file.startsWith('file:')) {
    try {
      file = url.fileURLToPath(file)
    } catch {
      return null
    }
  }
  if (file.startsWith('/@fs/')) file = file.slice('/@fs'.length)
  const query = file.indexOf('?')
  if (query > 0) file = file.slice(0, query)
  return path.isAbsolute(file) ? file : null
}

const told = new Set()
const numbers = new WeakMap()
let contexts = 0
/** A source runs in a context: 0 is the one of the process. */
const ran = (name, context) => {
  const file = fileOf(name)
  if (file === null) return
  let number = 0
  if (context) {
    if (!numbers.has(context)) numbers.set(context, ++contexts)
    number = numbers.get(context)
  }
  ranIn(number, file)
}

const ranIn = (number, file) => {
  const key = `${number} ${file}`
  if (told.has(key)) return
  told.add(key)
  tell(['ran', number, file])
}

/** Each test file of jest has a context of its own: another one is a new part. */
function watchContexts() {
  const { createContext } = vm
  if (!workers.isMainThread) tell(['thread'])
  vm.createContext = function () {
    const context = Reflect.apply(createContext, this, arguments)
    numbers.set(context, ++contexts)
    if (workers.isMainThread) mark(`test-${contexts}`)
    return context
  }
}

/** Whether somebody else than jest uses a file. */
const ofJest = file => {
  const by = caller()
  if (contexts > 0 && RUNTIME.test(by)) ranIn(contexts, file)
  return !OF_JEST.test(by)
}

const named = options => (typeof options === 'string' ? options : options?.filename)

/** Hears of each source of the project that runs in the context of the process, if functions are told apart. */
let watchFunctions = null
const runs = (code, name) => {
  if (watchFunctions === null) return
  const file = fileOf(name)
  if (file !== null && !file.includes('/node_modules/')) watchFunctions(name, file, code)
}

/** Sees what runs by way of `node:vm`, as vitest and jest run everything. */
function watchScripts() {
  const { runInThisContext, runInContext, runInNewContext, compileFunction } = vm
  vm.runInThisContext = function (code, options) {
    runs(code, named(options))
    ran(named(options))
    return Reflect.apply(runInThisContext, this, arguments)
  }
  vm.runInContext = function (code, context, options) {
    ran(named(options), context)
    return Reflect.apply(runInContext, this, arguments)
  }
  vm.runInNewContext = function (code, context, options) {
    ran(named(options), context)
    return Reflect.apply(runInNewContext, this, arguments)
  }
  vm.compileFunction = function (code, params, options) {
    // V8 counts in another text.
    runs(null, named(options))
    ran(named(options), options?.parsingContext)
    return Reflect.apply(compileFunction, this, arguments)
  }
  const scripts = new WeakMap()
  const { prototype } = vm.Script
  for (const method of ['runInThisContext', 'runInContext', 'runInNewContext']) {
    const original = prototype[method]
    prototype[method] = function (context) {
      ran(scripts.get(this), method === 'runInThisContext' ? undefined : context)
      return Reflect.apply(original, this, arguments)
    }
  }
  vm.Script = new Proxy(vm.Script, {
    construct(target, args, newTarget) {
      const name = named(args[1])
      runs(args[0], name)
      const script = Reflect.construct(target, args, newTarget)
      if (name) scripts.set(script, name)
      return script
    },
  })
  if (vm.SourceTextModule) {
    vm.SourceTextModule = new Proxy(vm.SourceTextModule, {
      construct(target, args, newTarget) {
        ran(args[1]?.identifier, args[1]?.context)
        return Reflect.construct(target, args, newTarget)
      },
    })
  }
  Module.syncBuiltinESMExports()
}

/** Functions of `fs` that find out what a file holds, or whether it is there. */
const USES = [
  'access', 'copyFile', 'createReadStream', 'exists', 'lstat', 'open', 'openAsBlob', 'opendir', 'readFile', 'readdir',
  'readlink', 'realpath', 'stat', 'statfs',
]

/** The packages whose reads in the main process of vitest only make the modules that tests get. */
const MAKERS = /[\\/]node_modules[\\/](vite|vitest|vite-node|rolldown|rolldown-vite|rollup|esbuild|@vitest[\\/][^\\/]+)[\\/]/

/** The same of jest: what its runtime reads is for the test file that runs. */
const OF_JEST = /[\\/]node_modules[\\/](jest|jest-[^\\/]+|@jest[\\/][^\\/]+|babel-jest|@babel[\\/]core)[\\/]/
const RUNTIME = /[\\/]node_modules[\\/](jest-runtime|jest-snapshot)[\\/]/

/** Stands between `fs` and many others. */
const GRACEFUL = /[\\/]node_modules[\\/]graceful-fs[\\/]/

/** Who called a function of `fs`: the innermost source that is none of Node's and not this one. */
function caller() {
  const { stackTraceLimit, prepareStackTrace } = Error
  Error.stackTraceLimit = 10
  let found = ''
  Error.prepareStackTrace = (_, frames) => {
    const files = frames.map(frame => frame.getFileName() ?? '')
    const isAside = file => !file || file === __filename || file.startsWith('node:') || GRACEFUL.test(file)
    found = files.find(file => !isAside(file)) ?? ''
    return ''
  }
  // To ask for it makes it.
  void new Error().stack
  Error.stackTraceLimit = stackTraceLimit
  Error.prepareStackTrace = prepareStackTrace
  return found
}

/** Writes down which files this thread uses by itself, where nobody else could tell that. `isOwn`
 * says so of a file. */
function watchFiles(isOwn) {
  const known = new Set()
  const uses = value => {
    const file = fileOf(value instanceof URL ? value.href : Buffer.isBuffer(value) ? value.toString() : value)
    const full = file ?? (typeof value === 'string' ? path.resolve(value) : null)
    if (full === null || known.has(full) || full.includes('/node_modules/') || !isOwn(full)) return
    known.add(full)
    tell(['uses', full])
  }
  for (const [holder, names] of [
    [fs, USES.flatMap(name => [name, `${name}Sync`])],
    [fs.promises, USES],
  ]) {
    for (const name of names) {
      const original = holder[name]
      if (typeof original !== 'function') continue
      const watched = function (file) {
        uses(file)
        return Reflect.apply(original, this, arguments)
      }
      // `fs.realpath.native`, and what promisify looks for.
      holder[name] = Object.defineProperties(watched, Object.getOwnPropertyDescriptors(original))
    }
  }
}

/** How vitest is called where this is its main process. */
const VITEST = /[\\/]vitest[\\/](vitest\.mjs|dist[\\/]cli\.js)$/
const JEST = /[\\/](jest|jest-cli)[\\/]bin[\\/]jest\.js$/

const realScript = () => {
  try {
    return fs.realpathSync(process.argv[1])
  } catch {
    return ''
  }
}

const plan = () => JSON.parse(fs.readFileSync(path.join(out, 'node.json'), 'utf8'))

/** Adds the reporter that leaves out tests and tells how the others ended. */
function joinVitest() {
  process.env.TAMIS_NODE_REPORTERS = process.argv.some(word => /^--reporter(=|$)/.test(word)) ? 'typed' : ''
  process.env.TAMIS_NODE_VITEST = realScript()
  process.argv.splice(2, 0, `--reporter=${path.join(out, 'vitest.mjs')}`)
}

/** Whether this process only lists the test files that `node --test` finds. */
const isListing = () => process.env.TAMIS_NODE_LISTS === '1'

/** Sees each test file that `node --test` starts. */
function watchStarts(before, after) {
  const { prototype } = childProcess.ChildProcess
  const { spawn } = prototype
  prototype.spawn = function (options) {
    const given = options?.args?.length ? before(options) : options
    const done = Reflect.apply(spawn, this, [given])
    after(this)
    return done
  }
}

/** Notes down each file that `node --test` would run, and starts a program that does nothing. */
function listTests() {
  const nothing = options => {
    tell(['test', path.resolve(options.cwd ?? process.cwd(), options.args[options.args.length - 1])])
    return { ...options, file: '/bin/true', args: ['true'] }
  }
  watchStarts(nothing, () => {})
}

/** Asks `node --test` which files it would run, and has it run those that are not left out. */
function joinNode() {
  mark('list')
  const lists = fs.mkdtempSync(path.join(out, 'list-'))
  fs.mkdirSync(path.join(lists, 'ran'))
  const ended = childProcess.spawnSync(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    env: { ...process.env, TAMIS_NODE: lists, TAMIS_NODE_LISTS: '1', TAMIS_NODE_OWN: '1' },
    stdio: 'ignore',
  })
  const found = fs.readdirSync(path.join(lists, 'ran')).flatMap(name =>
    fs.readFileSync(path.join(lists, 'ran', name), 'utf8').split('\n').filter(Boolean).map(JSON.parse))
  const tests = found.filter(([kind]) => kind === 'test').map(([, file]) => file)
  // A glob would not name one file; and where nothing was found it is for Node to say so.
  const isPlain = tests.every(file => !/[*?[\]{}()!]/.test(file))
  const isWhole = ended.status === 0 && tests.length > 0
  tell(['tests', isWhole ? tests : null])
  if (isWhole && isPlain) {
    const leftOut = new Set(plan().leftOut)
    const rest = tests.filter(file => !leftOut.has(file))
    if (rest.length === 0) process.exit(0)
    // Also where nothing is left out: it would look at each file that might be a test.
    process.argv.splice(1, process.argv.length, ...rest)
  }
  mark('run')
  // What handlers of its end do to its status only this process sees.
  watchStarts(
    options => options,
    child => {
      const since = Date.now()
      child.once('exit', code => tell(['ended', child.pid ?? 0, code ?? 1, (Date.now() - since) / 1000]))
    },
  )
}

const joinJest = () => require('./jest.cjs')({ out, mark, plan })

const JOIN = { vitest: joinVitest, jest: joinJest, node: joinNode }

function begin() {
  if (workers.isMainThread && !process.env.TAMIS_NODE_MAIN) {
    const script = realScript()
    const isNode = process.execArgv.includes('--test') && !process.env.NODE_TEST_CONTEXT
    const tool = VITEST.test(script) ? 'vitest' : JEST.test(script) ? 'jest' : isNode ? 'node' : null
    if (tool) {
      process.env.TAMIS_NODE_MAIN = String(process.pid)
      process.env.TAMIS_NODE_TOOL = tool
      mark('main')
      const alone = saysItself(tool, process.argv.slice(isNode ? 1 : 2), process.execArgv)
      tell(['main', tool, alone])
      if (alone === null) JOIN[tool]()
    }
  } else if (workers.isMainThread && !process.env.TAMIS_NODE_OWN) {
    process.env.TAMIS_NODE_OWN = '1'
    mark('own')
    // Begun by jest to look at files, or to count what no test ran.
    if (process.env.TAMIS_NODE_PHASE) mark(process.env.TAMIS_NODE_PHASE)
    // A test file of `node --test` has a process of its own.
    if (process.env.NODE_TEST_CONTEXT && process.argv[1]) tell(['ran', 0, path.resolve(process.argv[1])])
    const watches = process.env.TAMIS_NODE_FUNCTIONS
    if (watches && !process.env.NODE_V8_COVERAGE) {
      watchFunctions = require('./functions.cjs')({ out, tell, fileOf, isHeard: watches === 'heard' })
    }
  }
  // In a thread nobody else can tell who used a file; and in the main process, whether that was to
  // make a module, or because a plug-in or a set-up file wanted to know what it holds.
  if (!workers.isMainThread) {
    if (process.env.TAMIS_NODE_TOOL === 'vitest' && !process.env.TAMIS_NODE_OWN) tell(['threads'])
    watchFiles(() => true)
  } else if (process.env.TAMIS_NODE_TOOL === 'vitest' && process.env.TAMIS_NODE_MAIN === String(process.pid)) {
    watchFiles(() => process.env.TAMIS_NODE_PHASE !== 'end' && !MAKERS.test(caller()))
  }
  if (process.env.TAMIS_NODE_TOOL === 'jest') {
    watchContexts()
    if (workers.isMainThread) watchFiles(ofJest)
  }
  watchScripts()
}

/** Options with which a command says itself what runs, or writes what it compares with. */
const ALONE = {
  vitest: [
    /^-t$|^--testNamePattern\b|^--changed\b|^--shard\b|^--merge-?[rR]eports\b|^--standalone\b/,
    /^-u$|^--update\b|^--bail\b|^-w$|^--watch\b(?!=false)|^--browser\b(?!=false)|^--inspect/,
  ],
  jest: [
    /^-[tuof]$|^--(testNamePattern|updateSnapshot|onlyChanged|onlyFailures|lastCommit|changedSince)\b/,
    /^--(changedFilesWithAncestor|findRelatedTests|filter|shard|bail|watch|watchAll)\b(?!=false)/,
    /^--(listTests|showConfig|clearCache|init)\b/,
  ],
  node: [
    /^--test-(name-pattern|skip-pattern|only|shard|update-snapshots|isolation|force-exit)\b|^--watch\b/,
    /^--experimental-test-(isolation|snapshots|coverage)/,
  ],
}

/** Commands of vitest that are not `run`. */
const OTHERS = ['list', 'bench', 'init', 'related', 'watch', 'dev']

/** The word of a command for which it is left alone; null if there is none. */
function saysItself(tool, words, flags) {
  const alone = [...words, ...flags].find(word => ALONE[tool].some(one => one.test(word)))
  const other = tool === 'vitest' && OTHERS.find(word => words.includes(word))
  return alone ?? (other || null)
}

if (out && isListing()) listTests()
else if (out) begin()
