import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ToolContext } from '../../core/extension.ts'
import { createEgress, type Egress } from '../../lib/egress.ts'
import { startRawMcpServer, type RawMcpServer } from '../../testing/raw-mcp-server.ts'
import { McpConnection } from './connection.ts'
import { createRemoteTool } from './remote-tool.ts'

let server: RawMcpServer
let egress: Egress
let connection: McpConnection
beforeEach(async () => {
  server = await startRawMcpServer()
  egress = createEgress({ allowPrivate: true })
  connection = await McpConnection.open({ url: server.url, headers: {} }, { egress, version: '1.0.0' }, AbortSignal.timeout(5_000))
})
afterEach(async () => {
  await connection.close()
  await egress.close()
  await server.close()
})

describe('the arguments of a call', () => {
  it.each([
    ['{"channel":1234567890123456789,"to":{"ids":[9007199254740993]}}', '{"channel":1234567890123456789,"to":{"ids":[9007199254740993]}}'],
    ['{"n":5.0,"text":"1.0"}', '{"n":5,"text":"1.0"}'],
    ['', '{}'],
  ])('reach the server with the long numbers the model has written: %s', async (written, sent) => {
    const { tool } = createRemoteTool(
      { name: 'add', inputSchema: {} },
      {
        settings: { server_label: 'raw', require_approval: 'never' },
        itemType: undefined,
        progressEvents: false,
        run: (args, signal) => connection.callTool('add', args, signal),
      },
    )
    const context = { rawArguments: written, signal: AbortSignal.timeout(5_000) } as ToolContext
    const result = await tool.execute(tool.parameters.parse(JSON.parse(written || '{}')), context)
    expect(result).toMatchObject({ output: 'done' })
    expect(server.bodies.find((body) => body.includes('"tools/call"'))).toContain(`"arguments":${sent}`)
  })
})
