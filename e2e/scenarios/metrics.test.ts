import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { startGateway } from '../../src/testing/start-gateway.ts'
import { VERSION } from '../../src/version.ts'

const PAGE = readFileSync(new URL('../../docs/reference/operations.md', import.meta.url), 'utf8')

/** Names and labels in the table of the documentation. */
const documented = new Map([...PAGE.matchAll(/^\| `(gateway_\w+)` \| (.*?)\| /gm)].map(([, name = '', labels = '']) => [name, labels]))

it('every metric of the gateway is on the page of operations with its labels, and no other', async () => {
  const gateway = await startGateway()
  try {
    await (await gateway.respond({ model: 'demo/echo', input: 'hello' })).text()
    const text = await (await fetch(`${gateway.url}/metrics`)).text()
    const registered = [...text.matchAll(/^# TYPE (gateway_\w+) /gm)].map(([, name = '']) => name)
    expect(registered.toSorted()).toEqual([...documented.keys()].toSorted())
    for (const name of registered) {
      const series = text.split('\n').find((line) => new RegExp(`^${name}(_bucket)?\\{`).test(line)) ?? ''
      for (const [, label] of series.matchAll(/(\w+)="/g))
        expect([name, documented.get(name)]).toEqual([name, expect.stringContaining(`\`${label}\``)])
    }
  } finally {
    await gateway.close()
  }
})

it('the metrics contain the version', async () => {
  const gateway = await startGateway()
  try {
    const text = await (await fetch(`${gateway.url}/metrics`)).text()
    expect(text.split('\n')).toContain(`gateway_build_info{version="${VERSION}"} 1`)
    expect(text.split('\n')).toContain('gateway_role{role="all"} 1')
  } finally {
    await gateway.close()
  }
})
