import { describe, expect, it } from 'vitest'
import { withoutSecrets } from './import.ts'

describe('withoutSecrets', () => {
  it('hides what is one, and neither references nor what is none', () => {
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
