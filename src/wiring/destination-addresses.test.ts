import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../config/load.ts'
import { addressProblems, checkDestinationAddresses } from './destination-addresses.ts'

const types = new Map([
  ['acme', {}],
  ['queue', { baseUrlSchemes: ['queue', 'tls'] }],
])

describe("the operator's addresses of destination types", () => {
  it('are http and https unless the type speaks something else', () => {
    expect(addressProblems({ acme: 'https://a.example', queue: 'queue://b.example:99' }, types)).toEqual([])
    expect(addressProblems({ acme: 'queue://a.example', queue: 'https://b.example' }, types)).toEqual([
      { path: 'destinations.base_urls.acme', message: '"queue://a.example" begins with queue:; expected https:, http:' },
      { path: 'destinations.base_urls.queue', message: '"https://b.example" begins with https:; expected queue:, tls:' },
    ])
  })

  it('may be null, and belong to types that exist', () => {
    expect(addressProblems({ acme: null }, types)).toEqual([])
    expect(addressProblems({ other: null }, types)).toEqual([
      { path: 'destinations.base_urls.other', message: 'there is no such destination type; expected one of: acme, queue' },
    ])
  })

  it.each([
    ['nats: nats://127.0.0.1:4222', true],
    ['nats: tls://127.0.0.1:4222', true],
    ['opik: https://opik.example/api', true],
    ['opik: nats://127.0.0.1:4222', false],
    ['nats: ftp://127.0.0.1', false],
    ['nats: "nats://user:secret@127.0.0.1"', false],
    ['nats: not a url', false],
  ])('as written, %s: %s', async (line, accepted) => {
    const directory = await mkdtemp(join(tmpdir(), 'signalbox-addresses-'))
    await writeFile(join(directory, 'signalbox.yaml'), `destinations:\n  base_urls:\n    ${line}\n`)
    const checked = loadConfig({ file: join(directory, 'signalbox.yaml'), env: {}, cwd: directory }).then(checkDestinationAddresses)
    if (accepted) await checked
    else await expect(checked).rejects.toThrow(/destinations\.base_urls\./)
    await rm(directory, { recursive: true })
  })
})
