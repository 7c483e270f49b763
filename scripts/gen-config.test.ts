import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { READ_AT_START } from '../src/config/watch.ts'
import { configKeys, configurationPage } from './gen-config.ts'

const ROOT = new URL('../', import.meta.url)

describe('the reference of the configuration', () => {
  it('is what the schema says', () => {
    expect(readFileSync(new URL('docs/reference/configuration.md', ROOT), 'utf8')).toBe(configurationPage())
  })

  it('describes every key', () => {
    expect(configKeys().filter(({ description }) => description.trim() === '')).toEqual([])
  })

  it('says types and defaults as they are written, and what is required', () => {
    const page = configurationPage()
    expect(page).toContain('| `server.port` | whole number | `8787` |')
    expect(page).toContain('| `server.shutdown_grace` | duration | `30s` |')
    expect(page).toContain('| `providers[].slug` | text | required |')
    expect(page).toContain('| `providers[].timeouts.first_token` | `auto` or duration |  |')
    expect(page).toContain('| `models[].endpoints[].pricing.tiers[].from_input_tokens` | whole number | required |')
    expect(page).toContain('| `tools.web_search.engines.<name>.api_key` | text |  |')
    expect(page).toContain('| `routing.cooldown` | true or false | `true` |')
    expect(page).toContain('| The period; without, ever. One of `daily`, `weekly`, `monthly`. |')
  })

  it('marks what needs a new process', () => {
    const marked = [...configurationPage().matchAll(/^\| `([^`]+)` .*\*\*At the start\.\*\*/gm)].map(([, path]) => path)
    expect(marked.toSorted()).toEqual(Object.keys(READ_AT_START).toSorted())
  })

  it('names every variable the program reads', () => {
    const page = configurationPage()
    const sources = globSync(['src/**/*.ts', 'bin/*.js'], { cwd: ROOT, exclude: ['**/*.test.ts', 'src/testing/**'] })
    const names = new Set(sources.flatMap((file) => readFileSync(new URL(file, ROOT), 'utf8').match(/\bSIGNALBOX_[A-Z_]+\b/g) ?? []))
    expect(names.size).toBeGreaterThan(10)
    for (const name of names) expect(page).toContain(`| \`${name}\` |`)
  })
})
