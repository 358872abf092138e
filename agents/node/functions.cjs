'use strict'
// Tells which functions of the project's sources a process of vitest ran.
//
// V8 tells of each function whether it has run since it was asked to watch. It does that for the
// whole process: whoever else asks takes answers away. Where vitest itself asks, for its coverage,
// these answers are heard. Otherwise each answer must name a function of this file that ran just
// before; without that, nothing is told, and sources count as a whole.

const crypto = require('node:crypto')
const fs = require('node:fs')
const inspector = require('node:inspector')
const path = require('node:path')
const url = require('node:url')
const vm = require('node:vm')

// What tests replace later is not what is called here.
const { apply } = Reflect
const { createHash } = crypto
const { isAbsolute, join } = path
const { mkdirSync, writeFileSync } = fs
const { pathToFileURL } = url
const { runInThisContext } = vm
const { post } = inspector.Session.prototype
const { endsWith, includes } = String.prototype

/** What vitest 4, and before it Tinypool, send when a test file has ended: then the process may be killed. */
const isEnd = message =>
  Boolean(message?.__vitest_worker_response__ && (message.type === 'testfileFinished' || message.type === 'stopped')) ||
  Boolean(message?.__tinypool_worker_message__ && 'taskId' in message)

/** Functions that V8 makes for the fields of a class. */
const OF_FIELDS = /^<(instance_members|static)_initializer>$/

/** What V8 calls a script that was given this name. */
const named = name => (isAbsolute(name) ? pathToFileURL(name).href : name)

/** `fileOf` makes a path of the name of a script. `isHeard` says whether vitest asks for its coverage. */
module.exports = ({ out, tell, fileOf, isHeard }) => {
  const codes = join(out, 'codes')

  /** What ran, by name: its file and its text, null if it ran with different ones. */
  const texts = new Map()
  /** The scripts of which all was seen: from before they ran. */
  const complete = new Set()
  let hasBegun = false
  let session = null
  let isLost = false
  let periods = 0

  /** A part of an answer that is not told would never be told again: then nothing is known. */
  const orLost = action => {
    if (isLost) return
    try {
      action()
    } catch {
      isLost = true
    }
    if (isLost) tell(['lost', 0])
  }

  const ask = (method, params) => {
    let answer
    apply(post, session, [method, params, (error, result) => (answer = error ? null : result)])
    return answer ?? null
  }

  const witness = () => `tamis-${periods}`
  const beginPeriod = () => {
    periods += 1
    runInThisContext('(function () {})', { filename: witness() })()
  }

  const begin = () => {
    if (isHeard) return
    session = new inspector.Session()
    session.connect()
    ask('Profiler.enable')
    isLost = ask('Profiler.startPreciseCoverage', { callCount: false, detailed: false }) === null
    beginPeriod()
  }

  /** A function's text shows what it would do: then all of its source counts. */
  const watchTexts = () => {
    const { toString } = Function.prototype
    const watched = {
      toString() {
        const text = apply(toString, this === watched ? toString : this, arguments)
        if (!apply(endsWith, text, ['{ [native code] }'])) {
          for (const { file, code } of [...texts.values()]) {
            if (code !== null && apply(includes, code, [text])) tell(['whole', 0, file])
          }
        }
        return text
      },
    }.toString
    Object.defineProperty(Function.prototype, 'toString', {
      value: watched, writable: true, enumerable: false, configurable: true,
    })
  }

  const take = () => {
    if (session === null) return
    const scripts = ask('Profiler.takePreciseCoverage')?.result ?? []
    const own = scripts.find(script => script.url === witness())
    isLost = !own?.functions.some(one => one.ranges[0].count > 0)
    if (isLost) return
    beginPeriod()
    tellOf(scripts)
  }

  const tellOf = scripts => {
    for (const script of scripts) {
      const known = texts.get(script.url)
      if (known === undefined) continue
      const { file, code } = known
      const isTop = one => one.ranges[0].startOffset === 0 && one.ranges[0].count > 0
      if (script.functions.some(isTop)) complete.add(script.scriptId)
      if (code === null || !complete.has(script.scriptId)) {
        tell(['whole', 0, file])
        continue
      }
      const ran = script.functions.filter(one => one.ranges[0].count > 0).map(one => {
        const { startOffset, endOffset } = one.ranges[0]
        return [startOffset, endOffset, OF_FIELDS.test(one.functionName)]
      })
      tell(['code', 0, file, keep(code), ran])
    }
  }

  /** Hears what V8 tells others. */
  const hear = () => {
    const watched = function (method, ...rest) {
      const callback = rest.at(-1)
      if (method === 'Profiler.takePreciseCoverage' && typeof callback === 'function') {
        const heard = (error, answer) => {
          if (answer?.result && texts.size > 0) orLost(() => tellOf(answer.result))
          return callback(error, answer)
        }
        return apply(post, this, [method, ...rest.slice(0, -1), heard])
      }
      return apply(post, this, [method, ...rest])
    }
    // Its promises are made of it when they are first asked for.
    inspector.Session.prototype.post = Object.defineProperties(watched, Object.getOwnPropertyDescriptors(post))
  }

  const keep = code => {
    const name = createHash('sha1').update(code).digest('hex')
    try {
      mkdirSync(codes, { recursive: true })
      writeFileSync(join(codes, name), code, { flag: 'wx' })
    } catch {
      // Another process has done so. If a test stands in the way, the file will not be found.
    }
    return name
  }

  watchTexts()
  if (isHeard) hear()
  else if (process.send) {
    const { send } = process
    process.send = function (message) {
      if (isEnd(message)) orLost(take)
      return apply(send, this, arguments)
    }
  }

  /** A source is about to run. */
  return (name, file, code) => {
    const key = named(name)
    const isKnown = typeof code === 'string' && (!texts.has(key) || texts.get(key).code === code)
    texts.set(key, { file, code: isKnown ? code : null })
    if (!hasBegun) begin()
    hasBegun = true
  }
}
