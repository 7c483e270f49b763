import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { MessageCount } from './message-count.ts'
import { mendBody, mendEvents, mendMessage } from './mend-messages.ts'

const read = async (chunks: readonly Buffer[]): Promise<string> => {
  const parts: Buffer[] = []
  for await (const part of mendEvents(Readable.from(chunks) as AsyncIterable<Buffer>)) parts.push(part)
  return Buffer.concat(parts).toString()
}

describe('a message', () => {
  it.each([
    ['{"jsonrpc":"2.0","id":1,"result":{"a":null,"_meta":null},"error":null}', { jsonrpc: '2.0', id: 1, result: { a: null } }],
    ['{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":"m"}}', { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'm' } }],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":null}', { jsonrpc: '2.0', id: 1, method: 'ping' }],
    ['{"method":"m","params":{"_meta":null,"b":[{"_meta":null}]}}', { method: 'm', params: { b: [{ _meta: null }] } }],
    ['{"id":1,"result":null}', { id: 1, result: null }],
    ['[{"id":1,"result":{},"error":null},5]', [{ id: 1, result: {} }, 5]],
  ])('%s is read without the nulls of its frame', (text, message) => {
    expect(JSON.parse(mendMessage(text))).toEqual(message)
  })

  it.each(['{"id":1,"result":{"content":null}}', 'null', '{"error": null', '"_meta": null'])('%s stays as it is', (text) => {
    expect(mendMessage(text)).toBe(text)
  })
})

it('events are repaired wherever they are cut, with any line ends, and are otherwise unchanged', async () => {
  const events =
    ': hi\r\nid: 7\r\nevent: message\r\ndata: {"id":1,"result":{"t":"é\\n"},"error":null}\r\n\r\nretry: 5\ndata:{"params":null}\rdata: "_meta": null'
  const mended = ': hi\r\nid: 7\r\nevent: message\r\ndata: {"id":1,"result":{"t":"é\\n"}}\r\n\r\nretry: 5\ndata:{}\rdata: "_meta": null'
  const bytes = Buffer.from(events)
  for (let size = 1; size <= bytes.length; size++) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => bytes.subarray(n * size, (n + 1) * size))
    expect(await read(chunks)).toBe(mended)
  }
})

it('an event is passed on as soon as its line is complete', async () => {
  const stream = mendEvents(
    (async function* () {
      yield Buffer.from('data: {"id":1}\n\nda')
      await new Promise(() => undefined)
    })(),
  )
  expect((await stream.next()).value?.toString()).toBe('data: {"id":1}\n\n')
})

it('many messages that came at once leave others their turns', async () => {
  let turns = 0
  let others = setImmediate(function other() {
    turns++
    others = setImmediate(other)
  })
  await read([Buffer.from('data: {}\n\n'.repeat(6_000))])
  clearImmediate(others)
  expect(turns).toBeGreaterThanOrEqual(10)
})

it.each(['\n', '\r', '\r\n'])('messages are counted where they end, wherever they are cut (%j)', async (lineEnd) => {
  const message = Buffer.from(['data: [', 'data: ]', '', ''].join(lineEnd))
  const chunks = [...Buffer.from(Buffer.concat(Array.from({ length: 4 }, () => message)))].map((byte) => Buffer.from([byte]))
  const halves: number[] = []
  const counted = async (max: number): Promise<number> => {
    let bytes = 0
    const count = new MessageCount({ max, onHalf: () => halves.push(bytes) })
    for await (const part of mendEvents(Readable.from(chunks) as AsyncIterable<Buffer>, count)) bytes += part.length
    return bytes
  }
  expect(await counted(4)).toBe(chunks.length)
  expect(halves).toHaveLength(1)
  await expect(counted(3)).rejects.toThrow('more than 3 messages')
})

it('a list holds a bounded number of messages', async () => {
  const ofLength = async (length: number): Promise<string> => {
    const list = Buffer.from(` [${Array.from({ length }, () => '{}').join()}]`)
    for await (const body of mendBody(Readable.from([list]) as AsyncIterable<Buffer>)) return body.toString()
    return ''
  }
  expect(JSON.parse(await ofLength(1_024))).toHaveLength(1_024)
  await expect(ofLength(1_025)).rejects.toThrow('more than 1024 messages at once')
})
