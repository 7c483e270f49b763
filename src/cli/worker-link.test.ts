import { expect, it, onTestFinished, vi } from 'vitest'
import { linkToPrimary, type FromWorker, type ToWorker, type WorkerHandlers } from './worker-link.ts'

function setUp(handlers?: WorkerHandlers) {
  const sent: FromWorker[] = []
  let hear: (message: ToWorker) => void = () => undefined
  const link = linkToPrimary({ send: (message) => sent.push(message), listen: (onMessage) => (hear = onMessage) }, () => handlers)
  return { link, sent, hear: (message: ToWorker) => hear(message) }
}

it('answers with its figures when asked, with none before it serves', async () => {
  const ready = setUp({ metrics: () => Promise.resolve('a 1'), stop: () => undefined })
  ready.hear({ kind: 'collect', id: 3 })
  await expect.poll(() => ready.sent).toEqual([{ kind: 'collected', id: 3, text: 'a 1' }])
  const early = setUp()
  early.hear({ kind: 'collect', id: 4 })
  await expect.poll(() => early.sent).toEqual([{ kind: 'collected', id: 4, text: '' }])
})

it('gathers the metrics of all processes, or its own when no other can be asked', async () => {
  const { link, sent, hear } = setUp()
  const gathered = link.gather(() => Promise.resolve('a 9\n'))
  expect(sent).toEqual([{ kind: 'gather', id: 0 }])
  const processes = ['1', '2'].map((worker) => ({ worker, text: `a ${worker}\n` }))
  hear({ kind: 'gathered', id: 0, processes })
  expect(await gathered).toBe('a{worker="1"} 1\na{worker="2"} 2\n')
  const alone = link.gather(() => Promise.resolve('a 9\n'))
  hear({ kind: 'gathered', id: 1, processes: [] })
  expect(await alone).toBe('a 9\n')
})

it('answers a health check, also while it starts', () => {
  const { sent, hear } = setUp()
  hear({ kind: 'ask' })
  expect(sent).toEqual([{ kind: 'alive' }])
})

it('stops when told', () => {
  let stops = 0
  const { hear } = setUp({ metrics: () => Promise.resolve(''), stop: () => stops++ })
  hear({ kind: 'stop' })
  expect(stops).toBe(1)
})

it('stops with the current handlers, which change while the process starts', () => {
  const stops: string[] = []
  const handlersOf = (name: string): WorkerHandlers => ({ metrics: () => Promise.resolve(''), stop: () => stops.push(name) })
  let handlers = handlersOf('early')
  let hear: (message: ToWorker) => void = () => undefined
  linkToPrimary({ send: () => undefined, listen: (onMessage) => (hear = onMessage) }, () => handlers)
  hear({ kind: 'stop' })
  handlers = handlersOf('serving')
  hear({ kind: 'stop' })
  expect(stops).toEqual(['early', 'serving'])
})

it('reports that it is listening, and gets the configuration of the others', async () => {
  const { link, sent, hear } = setUp()
  const begun = link.begin()
  expect(sent).toEqual([{ kind: 'listening' }])
  hear({ kind: 'begin', initial: {}, lastGood: { file: '/a.yaml', text: '{}' } })
  expect(await begun).toMatchObject({ initial: {}, lastGood: { file: '/a.yaml', text: '{}' } })
})

it('reads its own configuration if the primary sends none', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const begun = setUp().link.begin()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await begun).toBeUndefined()
})
