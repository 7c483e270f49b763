import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { misspeltVariables, VARIABLES } from './misspelt.ts'

describe('variables of the environment that nobody reads', () => {
  let folder: string
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'signalbox-config-'))))
  afterEach(() => rm(folder, { recursive: true }))

  it('are named with what was probably meant, and never with their value', async () => {
    const env = { SIGNALBOX_MANAGMENT_KEY: 'canary', SIGNALBOX_DATABASE_URI: 'canary', SIGNALBOX_DATA: 'canary', signalbox_port: '1' }
    expect(await misspeltVariables(env, undefined)).toEqual([
      'SIGNALBOX_MANAGMENT_KEY is no setting and has no effect; did you mean SIGNALBOX_MANAGEMENT_KEY?',
      'SIGNALBOX_DATABASE_URI is no setting and has no effect; did you mean SIGNALBOX_DATABASE_URL?',
      'SIGNALBOX_DATA is no setting and has no effect; did you mean SIGNALBOX_DATA_DIR?',
      'signalbox_port is no setting and has no effect; did you mean SIGNALBOX_PORT?',
    ])
  })

  it('are no matter when they are right, like no other, or read by the configuration file', async () => {
    expect(await misspeltVariables(Object.fromEntries(VARIABLES.map((name) => [name, 'x'])), undefined)).toEqual([])
    // What a cluster sets for a service of that name, and the installation's own.
    const others = {
      SIGNALBOX_SERVICE_HOST: '',
      SIGNALBOX_SERVICE_PORT: '',
      SIGNALBOX_PORT_8787_TCP_ADDR: '',
      SIGNALBOX_TEAM: 'x',
      OTHER_API_KEY: 'x',
    }
    expect(await misspeltVariables(others, undefined)).toEqual([])
    const file = join(folder, 'signalbox.yaml')
    await writeFile(file, 'providers: [{ slug: demo, api_key: "${SIGNALBOX_API_KEYS}" }]')
    expect(await misspeltVariables({ SIGNALBOX_API_KEYS: 'x' }, file)).toEqual([])
    expect(await misspeltVariables({ SIGNALBOX_API_KEYS: 'x' }, undefined)).toHaveLength(1)
  })
})
