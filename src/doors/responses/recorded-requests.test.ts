import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../lib/json.ts'
import { decodeResponsesRequest } from './decode-request.ts'

const root = resolve(process.env['SIGNALBOX_FIXTURES'] ?? join(import.meta.dirname, '../../../../shared/fixtures'), 'responses')
const files = existsSync(root) ? globSync('**/*.request.json', { cwd: root }).toSorted() : []

describe.skipIf(files.length === 0)(`requests that vendors have accepted (${root})`, () => {
  it.each(files)('%s', (file) => {
    const body = parseJson(readFileSync(join(root, file))) as { readonly input: unknown }
    const decoded = decodeResponsesRequest(body)
    expect(decoded.input).toHaveLength(Array.isArray(body.input) ? body.input.length : 1)
    expect(decoded).toMatchObject({ ...body, input: expect.any(Array) })
  })
})
