import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { destinationContext } from './destination-context.ts'

const service = { name: 'signalbox', version: '1.2.3' }
const directory = join('/data', 'exports')
const destination = { id: 'd1', type: 'webhook', workspaceId: 'b0c6f6de-2a54-4f0c-9a6e-0f1c8f1f3b11' }
const moment = { now: 7, attempt: 2 }

describe('the context a destination gets', () => {
  it('has its own id, the service, the time and the number of tries', () => {
    expect(destinationContext(destination, { service }, moment)).toEqual({
      destinationId: 'd1',
      serviceName: 'signalbox',
      serviceVersion: '1.2.3',
      now: 7,
      attempt: 2,
    })
  })

  it("has the operator's address for its type, where there is one", () => {
    const baseUrls = { webhook: 'https://one.example.com', other: 'https://two.example.com' }
    expect(destinationContext(destination, { service, baseUrls }, moment).baseUrl).toBe('https://one.example.com')
    expect(destinationContext(destination, { service, baseUrls: { webhook: null } }, moment)).not.toHaveProperty('baseUrl')
  })

  it('has a folder no other workspace writes to', () => {
    const folder = (workspaceId: string) => destinationContext({ ...destination, workspaceId }, { service, directory }, moment).directory
    expect(folder('w1')).toBe(join(directory, 'w1'))
    expect(folder('w2')).toBe(join(directory, 'w2'))
  })

  it.each(['..', '../w1', 'a/b', '/etc', '', '.', 'a\0b'])('has no folder for a workspace whose id is %j', (workspaceId) => {
    expect(destinationContext({ ...destination, workspaceId }, { service, directory }, moment)).not.toHaveProperty('directory')
  })
})
