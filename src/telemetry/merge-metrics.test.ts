import { expect, it } from 'vitest'
import { createMetrics } from './metrics.ts'
import { mergeMetrics } from './merge-metrics.ts'

const ONE = `# HELP calls Calls.
# TYPE calls counter
calls{model="a b",status="ok"} 3
# HELP up Up.
# TYPE up gauge
up 1

# HELP wait Waits.
# TYPE wait histogram
wait_bucket{le="+Inf"} 2
wait_sum 0.5
wait_count 2
`

it('keeps families together and labels each sample with its process', () => {
  const merged = mergeMetrics([
    { worker: '1', text: ONE },
    { worker: '2', text: ONE.replace(' 3', ' 4') },
  ])
  expect(merged).toBe(`# HELP calls Calls.
# TYPE calls counter
calls{model="a b",status="ok",worker="1"} 3
calls{model="a b",status="ok",worker="2"} 4
# HELP up Up.
# TYPE up gauge
up{worker="1"} 1
up{worker="2"} 1
# HELP wait Waits.
# TYPE wait histogram
wait_bucket{le="+Inf",worker="1"} 2
wait_sum{worker="1"} 0.5
wait_count{worker="1"} 2
wait_bucket{le="+Inf",worker="2"} 2
wait_sum{worker="2"} 0.5
wait_count{worker="2"} 2
`)
})

it('loses no metric of the gateway', async () => {
  const metrics = createMetrics()
  metrics.gauge('gateway_test', 'A figure.', () => 7)
  const text = await metrics.text()
  const samples = (of: string): number => of.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length
  const merged = mergeMetrics([
    { worker: '1', text },
    { worker: '2', text },
  ])
  expect(samples(merged)).toBe(2 * samples(text))
  expect(merged).toContain('gateway_test{worker="2"} 7')
})

it('includes a metric that only one process has', () => {
  expect(
    mergeMetrics([
      { worker: '1', text: 'a 1\n' },
      { worker: '2', text: 'b{x="}"} 2\n' },
    ]),
  ).toBe('a{worker="1"} 1\nb{x="}",worker="2"} 2\n')
})
