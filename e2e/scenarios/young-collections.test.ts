import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { chatText, startFakeUpstream, stream } from '../../src/testing/fake-upstream.ts'
import { startGatewayProcess } from '../../src/testing/processes.ts'

const CALLS = 4_000
const PROMPT = 'some words '.repeat(150)

/** Runs in the gateway: writes the number of bytes that its young collections promoted to the old generation to `file` when it ends. */
const counting = (file: string): string => `
  import { writeFileSync } from 'node:fs'
  import { GCProfiler } from 'node:v8'
  import { isMainThread } from 'node:worker_threads'
  if (isMainThread) {
    const profiler = new GCProfiler()
    profiler.start()
    const old = ({ heapSpaceStatistics }) => heapSpaceStatistics.find(({ spaceName }) => spaceName === 'old_space').spaceUsedSize
    process.on('exit', () => {
      const young = profiler.stop().statistics.filter(({ gcType }) => gcType === 'Scavenge')
      const promoted = young.reduce((sum, { beforeGC, afterGC }) => sum + old(afterGC) - old(beforeGC), 0)
      writeFileSync(${JSON.stringify(file)}, JSON.stringify({ collections: young.length, promoted }))
    })
  }`

it('finished calls are not promoted to the old generation by minor garbage collections', { timeout: 90_000 }, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'signalbox-young-'))
  const file = join(directory, 'promoted.json')
  const upstream = await startFakeUpstream(stream(chatText('Hello ', 'there.')))
  const config = {
    providers: [{ slug: 'acme', name: 'Acme', dialect: 'openai-chat', base_url: upstream.url, api_keys: ['k'] }],
    models: [{ slug: 'acme/small', context_length: 100_000, endpoints: [{ provider: 'acme', upstream_model: 'small-1' }] }],
  }
  await writeFile(join(directory, 'signalbox.json'), JSON.stringify(config))
  const gateway = await startGatewayProcess({
    directory,
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(counting(file))}`, SIGNALBOX_CONFIG: 'signalbox.json' },
  })
  try {
    const ask = async (): Promise<void> => {
      for (let n = 0; n < CALLS / 2; n++) {
        expect((await gateway.api('POST', 'responses', { model: 'acme/small', input: PROMPT })).status).toBe(200)
        ;(upstream.requests as unknown[]).length = 0
      }
    }
    await Promise.all([ask(), ask()])
  } finally {
    await gateway.end('SIGTERM')
    await upstream.close()
  }
  const { collections, promoted } = JSON.parse(await readFile(file, 'utf8')) as { readonly collections: number; readonly promoted: number }
  await rm(directory, { recursive: true })
  expect(collections).toBeGreaterThan(20)
  // The memory for each answer and for the start is about 2.6 KB per call. It was 12 KB when each call was promoted as well.
  expect(promoted / CALLS).toBeLessThan(6_000)
})
