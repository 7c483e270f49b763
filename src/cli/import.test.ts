import { describe, expect, it } from 'vitest'
import { IMPORTERS } from '../importers/index.ts'
import { withoutSecrets } from './import.ts'
import { createProgram, type Commands } from './program.ts'

it('the help names every format that import reads', () => {
  const help = createProgram({} as Commands, '0')
    .commands.find((command) => command.name() === 'import')!
    .helpInformation()
  for (const { name } of IMPORTERS) expect(help).toContain(name)
})

describe('withoutSecrets', () => {
  it('hides secrets, and neither references nor other values', () => {
    const file = {
      providers: [
        {
          slug: 'acme',
          base_url: 'https://acme.test/v1',
          api_keys: ['sk-plain', '${ACME_KEY}'],
          headers: { 'x-team': 'search', authorization: 'Bearer plain' },
          settings: { region: 'eu', credentials: { private_key: 'plain', type: 'service_account' } },
        },
        { slug: 'local', api_keys: null },
      ],
      models: [],
    }
    const shown = withoutSecrets(file)
    expect(JSON.stringify(shown.file)).not.toMatch(/sk-plain|Bearer plain|"plain"/)
    expect(shown).toMatchObject({
      hidden: 4,
      file: {
        providers: [
          {
            slug: 'acme',
            base_url: 'https://acme.test/v1',
            api_keys: ['[hidden]', '${ACME_KEY}'],
            headers: { 'x-team': 'search' },
            settings: { region: 'eu' },
          },
          { slug: 'local', api_keys: null },
        ],
      },
    })
    expect(withoutSecrets({ providers: [{ slug: 'acme', api_keys: ['${ACME_KEY}'] }], models: [] }).hidden).toBe(0)
  })
})
