'use strict'
// Tells which functions of the project's sources a process of vitest ran.
//
// V8 tells of each function whether it has run since it was asked to watch. It does that for the
// whole process: whoever else asks takes answers away. So each answer must name a function of this
// file that ran just before; without that, nothing is told, and sources count as a whole.

const crypto = require('node:crypto')
const fs = require('node:fs')
const inspector = require('node:inspector')
const path = require('node:path')
const vm = require('node:vm')

/** What vitest 4, and before it Tinypool, send when a test file has ended: then the process may be killed. */
const isEnd = message =>
  Boolean(message?.__vitest_worker_response__ && (message.type === 'testfileFinished' || message.type === 'stopped')) ||
  Boolean(message?.__tinypool_worker_message__ && 'taskId' in message)

/** Functions that V8 makes for the fields of a class. */
const OF_FIELDS = /^<(instance_members|static)_initializer>$/

/** Where V8 got a script, as it was named to it. */
const named = name => (name.startsWith('/') ? `file://${name}` : name)

/** `fileOf` makes a path of the name of a script. */
module.exports = ({ out, tell, fileOf }) => {
  const { runInThisContext } = vm
  const sum = text => crypto.createHash('sha1').update(text).digest('hex')
  const { mkdirSync, writeFileSync } = fs
  const { post } = inspector.Session.prototype
  const codes = path.join(out, 'codes')

  /** What ran, by name: null if that ran with different texts. */
  const texts = new Map()
  let session = null
  let isLost = false
  let periods = 0

  const ask = (method, params) => {
    let answer
    Reflect.apply(post, session, [method, params, (error, result) => (answer = error ? null : result)])
    return answer ?? null
  }

  const witness = () => `tamis-${periods}`
  const beginPeriod = () => {
    periods += 1
    runInThisContext('(function () {})', { filename: witness() })()
  }

  const begin = () => {
    session = new inspector.Session()
    session.connect()
    ask('Profiler.enable')
    isLost = ask('Profiler.startPreciseCoverage', { callCount: false, detailed: false }) === null
    watchTexts()
    beginPeriod()
  }

  /** A function's text shows what it would do: then all of its source counts. */
  const watchTexts = () => {
    const { toString } = Function.prototype
    const watched = {
      toString() {
        const text = Reflect.apply(toString, this === watched ? toString : this, arguments)
        if (!text.endsWith('{ [native code] }')) {
          for (const [name, code] of texts) {
            if (code?.includes(text)) tell(['whole', 0, fileOf(name)])
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
    if (session === null || isLost) return
    const scripts = ask('Profiler.takePreciseCoverage')?.result ?? []
    const own = scripts.find(script => script.url === witness())
    isLost = !own?.functions.some(one => one.ranges[0].count > 0)
    if (isLost) return tell(['lost', 0])
    beginPeriod()
    for (const script of scripts) {
      const code = texts.get(script.url)
      if (code === undefined) continue
      const file = fileOf(script.url)
      if (code === null) {
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

  const keep = code => {
    const name = sum(code)
    try {
      mkdirSync(codes, { recursive: true })
      writeFileSync(path.join(codes, name), code, { flag: 'wx' })
    } catch {
      // Another process has done so, or a test stands in the way: then what it holds is not this.
    }
    return name
  }

  if (process.send) {
    const { send } = process
    process.send = function (message) {
      if (isEnd(message)) take()
      return Reflect.apply(send, this, arguments)
    }
  }

  /** A source is about to run. */
  return (name, code) => {
    const key = named(name)
    const isKnown = typeof code === 'string' && (!texts.has(key) || texts.get(key) === code)
    texts.set(key, isKnown ? code : null)
    if (session === null) begin()
  }
}
