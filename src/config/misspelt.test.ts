import { describe, expect, it } from 'vitest'
import { misspeltVariables, quotedVariables, VARIABLES } from './misspelt.ts'

describe('variables of the environment that nobody reads', () => {
  it('are named with what was probably meant, and never with their value', () => {
    const env = { SIGNALBOX_MANAGMENT_KEY: 'canary', SIGNALBOX_DATABASE_URI: 'canary', SIGNALBOX_DATA: 'canary', signalbox_port: '1' }
    expect(misspeltVariables(env)).toEqual([
      'SIGNALBOX_MANAGMENT_KEY is no setting and has no effect; did you mean SIGNALBOX_MANAGEMENT_KEY?',
      'SIGNALBOX_DATABASE_URI is no setting and has no effect; did you mean SIGNALBOX_DATABASE_URL?',
      'SIGNALBOX_DATA is no setting and has no effect; did you mean SIGNALBOX_DATA_DIR?',
      'signalbox_port is no setting and has no effect; did you mean SIGNALBOX_PORT?',
    ])
  })

  it('are not reported when they are correct, unlike any other, or used by the configuration file', () => {
    expect(misspeltVariables(Object.fromEntries(VARIABLES.map((name) => [name, 'x'])))).toEqual([])
    // What a cluster sets for a service of that name, and the installation's own.
    const others = {
      SIGNALBOX_SERVICE_HOST: '',
      SIGNALBOX_SERVICE_PORT: '',
      SIGNALBOX_PORT_8787_TCP_ADDR: '',
      SIGNALBOX_TEAM: 'x',
      OTHER_API_KEY: 'x',
    }
    expect(misspeltVariables(others)).toEqual([])
    const text = 'providers: [{ slug: demo, api_key: "${SIGNALBOX_API_KEYS}" }]'
    expect(misspeltVariables({ SIGNALBOX_API_KEYS: 'x' }, text)).toEqual([])
    expect(misspeltVariables({ SIGNALBOX_API_KEYS: 'x' })).toHaveLength(1)
  })
})

it('variables in quotation marks are named, and never with their value', () => {
  const env = { SIGNALBOX_API_KEY: '"canary"', SIGNALBOX_DATA_DIR: "'/data'", SIGNALBOX_MANAGEMENT_KEY: 'sk-"1"', OTHER_API_KEY: '"x"' }
  const note = 'is in quotation marks, which are taken as a part of it: docker --env-file, for one, keeps them; leave them out'
  expect(quotedVariables(env)).toEqual([`SIGNALBOX_DATA_DIR ${note}`, `SIGNALBOX_API_KEY ${note}`])
})
