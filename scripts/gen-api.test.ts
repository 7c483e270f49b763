import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { apiPage, servedDocument, type ApiDocument } from './gen-api.ts'

it('the page of the API is what a gateway serves', async () => {
  expect(readFileSync(new URL('../docs/reference/api.md', import.meta.url), 'utf8')).toBe(apiPage(await servedDocument()))
})

it('every route has its key, its line and its fields', () => {
  const document: ApiDocument = {
    tags: [{ name: 'Things' }],
    paths: {
      '/things': {
        get: { summary: 'List', tags: ['Things'], 'x-key': 'any', parameters: [{ name: 'limit', in: 'query' }] },
        post: {
          summary: 'Make a|b',
          tags: ['Things'],
          'x-key': 'management',
          requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } },
        },
      },
    },
    components: { schemas: { Thing: { properties: { name: {}, size: {} }, required: ['name'] } } },
  }
  const page = apiPage(document)
  expect(page).toContain('| `GET /things` | any | List | query: `limit` |')
  expect(page).toContain('| `POST /things` | management | Make a\\|b | **`name`**, `size` |')
})
