import { describe, expect, it } from 'vitest'
import type { OtherTool } from '../../core/item.ts'
import { allowedBy, checkEntry, mcpSettings, needsApproval, requestHeaders, secretsOf, type RemoteTool } from './settings.ts'

const entry = (fields: object = {}): OtherTool => ({ type: 'mcp', server_label: 'docs', server_url: 'https://docs.example/mcp', ...fields })
const check = (tool: OtherTool, siblings = [tool]): void => checkEntry(mcpSettings.parse(tool), { siblings })
const tool = (name: string, readOnly?: boolean): RemoteTool => ({
  name,
  inputSchema: {},
  ...(readOnly === undefined ? {} : { annotations: { readOnlyHint: readOnly } }),
})

describe('an invalid tool entry', () => {
  it.each<[string, OtherTool, string]>([
    ['without an address', entry({ server_url: undefined }), 'server_url is required'],
    ['with a connector of somebody else', entry({ connector_id: 'connector_gmail' }), 'connector_id names a connector of one provider'],
    ['behind a tunnel of somebody else', entry({ server_url: undefined, tunnel_id: 'tunnel_1' }), 'tunnel_id names a tunnel of one provider'],
    ['whose address is none', entry({ server_url: 'docs.example' }), 'server_url must be an https or http URL'],
    ['of another scheme', entry({ server_url: 'file:///etc/passwd' }), 'server_url must be an https or http URL'],
    ['with credentials in its address', entry({ server_url: 'https://u:p@docs.example' }), 'server_url must not carry credentials'],
    ['with two authorizations', entry({ authorization: 'a', headers: { Authorization: 'b' } }), 'authorization is given twice'],
    ['with a header that splits messages', entry({ headers: { 'x-a': 'b\r\nhost: c' } }), 'headers are refused'],
    ['with a header that is not the caller’s', entry({ headers: { Host: 'other' } }), 'headers are refused'],
    ['with too many headers', entry({ headers: Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`x-${n}`, '1'])) }), 'at most 64'],
  ])('%s is refused', (_name, given, words) => {
    expect(() => check(given)).toThrow(words)
  })

  it('with the same label as another is refused', () => {
    expect(() => check(entry(), [entry(), entry({ server_url: 'https://other.example' })])).toThrow('"docs" is used by two')
    expect(() => check(entry(), [entry(), entry({ server_label: 'other' })])).not.toThrow()
  })

  it('beyond the maximum number is refused', () => {
    const many = Array.from({ length: 17 }, (_, n) => entry({ server_label: `s${n}` }))
    expect(() => check(many[0]!, many)).toThrow('at most 16')
  })
})

describe('the headers sent to a server', () => {
  it('are those of the caller, with the token as a bearer token', () => {
    const headers = requestHeaders({ headers: { 'X-Key': 'k', 'Mcp-Session-Id': 'stolen', Accept: 'text/html' }, authorization: 'token' })
    expect(headers).toEqual({ 'x-key': 'k', authorization: 'Bearer token' })
    expect(requestHeaders({ headers: null, authorization: 'Bearer token' })).toEqual({ authorization: 'Bearer token' })
  })

  it('have values that must not appear in results', () => {
    expect(secretsOf({ headers: { 'x-api-key': 'k'.repeat(12), 'x-lang': 'en-GB-very-long' }, authorization: 'Bearer t0ken-of-mine' })).toEqual([
      't0ken-of-mine',
      'kkkkkkkkkkkk',
    ])
    const named = Object.fromEntries(
      ['x-credential', 'db-passwd', 'x-pat', 'x-jwt', 'x-pattern', 'x-path'].map((name, n) => [name, `value-${n}-of-header`]),
    )
    expect(secretsOf({ headers: named, authorization: null })).toEqual([0, 1, 2, 3].map((n) => `value-${n}-of-header`))
  })

  it.each([
    ['https://a.example/mcp', []],
    ['https://a.example/a-long-path-without-digits/v1/mcp?project=abcdefgh12345678', []],
    ['https://a.example/s/k3y0fThisCaller1/mcp', ['/s/k3y0fThisCaller1/mcp']],
    ['https://a.example/s/k3y0fThisCaller1/mcp?x=1', ['/s/k3y0fThisCaller1/mcp?x=1', '/s/k3y0fThisCaller1/mcp']],
    ['https://a.example/mcp?a=1&tavilyApiKey=k%2F2345678&access_token=t0ken-of-mine', ['k/2345678', 'k%2F2345678', 't0ken-of-mine']],
    ['https://a.example/mcp?author=Ada+Lovelace&keywords=analytical+engine&keyword=punched-cards', []],
    ['https://a.example/mcp?authorization=a1b2c3d4&keywordsapikey=e5f6a7b8', ['a1b2c3d4', 'e5f6a7b8']],
    ['no address', []],
  ])('have their like in some addresses: %s', (address, secrets) => {
    expect(secretsOf({ server_url: address })).toEqual(secrets)
  })
})

describe('allowed tools', () => {
  it.each<[unknown, boolean, boolean]>([
    [null, true, true],
    [undefined, true, true],
    [['read'], true, false],
    [[], false, false],
    [{}, true, true],
    [{ tool_names: ['write'] }, false, true],
    [{ read_only: true }, true, false],
    [{ read_only: false }, false, true],
    [{ read_only: true, tool_names: ['write'] }, false, false],
  ])('%j: read %s, write %s', (allowed_tools, read, write) => {
    const settings = mcpSettings.parse(entry({ allowed_tools }))
    expect([tool('read', true), tool('write')].map(allowedBy(settings))).toEqual([read, write])
  })
})

describe('approval is required', () => {
  it.each<[unknown, boolean, boolean]>([
    [undefined, true, true],
    [null, true, true],
    ['always', true, true],
    ['never', false, false],
    [{ never: { tool_names: ['read'] } }, false, true],
    [{ never: { read_only: true } }, false, true],
    [{ always: { tool_names: ['write'] } }, true, true],
    [{ always: { tool_names: ['write'] }, never: { tool_names: ['read', 'write'] } }, false, true],
    [{ never: {} }, true, true],
    [{}, true, true],
  ])('%j: read %s, write %s', (require_approval, read, write) => {
    const settings = mcpSettings.parse(entry({ require_approval }))
    expect([needsApproval(settings, tool('read', true)), needsApproval(settings, tool('write'))]).toEqual([read, write])
  })
})

describe('lists of names', () => {
  const names = Array.from({ length: 1_025 }, (_, n) => `t${n}`)
  const entry = { server_label: 's', server_url: 'https://a.test' }
  it.each([[{ allowed_tools: names }], [{ allowed_tools: { tool_names: names } }], [{ require_approval: { never: { tool_names: names } } }]])(
    'have at most 1,024 entries: %#',
    (fields) => {
      expect(mcpSettings.safeParse({ ...entry, ...fields }).success).toBe(false)
      expect(mcpSettings.safeParse({ ...entry, allowed_tools: names.slice(1) }).success).toBe(true)
    },
  )
})
