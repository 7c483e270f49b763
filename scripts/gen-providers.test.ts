import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { PROVIDERS } from '../src/providers/index.ts'
import { providersPage } from './gen-providers.ts'

describe('the reference of providers', () => {
  it('is what the declarations say', () => {
    expect(readFileSync(new URL('../docs/reference/providers.md', import.meta.url), 'utf8')).toBe(providersPage())
  })

  it('has a row for each, with what switches it on and what it needs besides', () => {
    const page = providersPage()
    for (const { slug } of PROVIDERS) expect(page).toContain(`| \`${slug}\` |`)
    expect(page).toContain('| `OPENAI_API_KEY` |  |  |')
    expect(page).toContain('| `CLOUDFLARE_API_TOKEN`, `CLOUDFLARE_API_KEY` | account_id: `CLOUDFLARE_ACCOUNT_ID` |')
  })
})
