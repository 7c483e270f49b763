import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { McpServer as SessionServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createMcpHandler, McpServer as ModernServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

/** `modern`: the newest revision, without sessions. `sessions`: streamable HTTP as most servers run it. `sse`: the older transport. */
export type McpKind = 'modern' | 'sessions' | 'sse'

export interface McpRequestSeen {
  readonly method: string
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  /** Method of the message, of POST requests. */
  readonly rpc?: string
}

/** A server on loopback, made of the SDKs' own server classes, with a few tools. */
export interface TestMcpServer {
  readonly url: string
  readonly port: number
  readonly requests: readonly McpRequestSeen[]
  /** Tool calls that ran, with their arguments. */
  readonly calls: readonly { readonly tool: string; readonly args: unknown }[]
  /** When running tools learned that their results are no longer wanted. */
  readonly cancelled: readonly number[]
  /** Adds a tool to the list from now on. */
  addTool(name: string, description?: string): void
  /** Replaces the pages of the list, valid or not; a server of kind `sse` keeps its own. */
  listAs(page: ((cursor: string | undefined) => object) | undefined): void
  /** Replaces the result of every call; a server of kind `sse` runs its tools. */
  resultAs(result: unknown): void
  /** Lets this answer requests instead, as long as it returns true. */
  intercept(answer: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined): void
  forget(): void
  /** Breaks every connection. */
  hangUp(): void
  close(): Promise<void>
}

type ToolHandler = (
  args: Record<string, unknown>,
  signal: AbortSignal,
) => Promise<{ content: { type: 'text'; text: string }[] | unknown[]; isError?: boolean }>

interface ToolSpec {
  readonly description: string
  readonly input: { readonly [name: string]: z.ZodType }
  readonly readOnly?: boolean
  readonly run: ToolHandler
}

const text = (words: string): { content: { type: 'text'; text: string }[] } => ({ content: [{ type: 'text', text: words }] })
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

function toolsOf(state: { cancelled: number[]; sockets: Set<Socket> }): Record<string, ToolSpec> {
  return {
    add: {
      description: 'Adds two numbers.',
      input: { a: z.number(), b: z.number() },
      readOnly: true,
      run: async ({ a, b }) => text(String(Number(a) + Number(b))),
    },
    fail: { description: 'Always fails.', input: {}, run: async () => ({ ...text('the disk is full'), isError: true }) },
    draw: {
      description: 'Draws.',
      input: {},
      run: async () => ({
        content: [
          { type: 'text', text: 'a dot' },
          { type: 'image', data: PIXEL, mimeType: 'image/png' },
        ],
      }),
    },
    big: { description: 'Says a lot.', input: { chars: z.number() }, run: async ({ chars }) => text('x'.repeat(Number(chars))) },
    wait: {
      description: 'Never ends by itself.',
      input: {},
      run: (_args, signal) =>
        new Promise((resolve) => {
          const end = (): void => {
            state.cancelled.push(performance.now())
            resolve(text('cancelled'))
          }
          if (signal.aborted) end()
          else signal.addEventListener('abort', end, { once: true })
        }),
    },
    die: {
      description: 'Takes the server down.',
      input: {},
      run: () => {
        for (const socket of state.sockets) socket.destroy()
        return new Promise(() => undefined)
      },
    },
  }
}

export async function startMcpServer(kind: McpKind, options: { readonly path?: string } = {}): Promise<TestMcpServer> {
  const requests: McpRequestSeen[] = []
  const calls: { tool: string; args: unknown }[] = []
  const state = { cancelled: [] as number[], sockets: new Set<Socket>() }
  const tools = toolsOf(state)
  let called: object | null | undefined
  let list: ((cursor: string | undefined) => object) | undefined
  let answer: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined

  const register = (server: SessionServer | ModernServer): void => {
    for (const [name, { description, input, readOnly, run }] of Object.entries(tools)) {
      const config = { description, inputSchema: z.object(input), ...(readOnly === true ? { annotations: { readOnlyHint: true } } : {}) }
      const handler = (args: Record<string, unknown>, extra: { signal?: AbortSignal; mcpReq?: { signal: AbortSignal } }): never => {
        calls.push({ tool: name, args })
        return run(args, (extra.mcpReq?.signal ?? extra.signal)!) as never
      }
      ;(server as ModernServer).registerTool(name, config, handler as never)
    }
  }
  const serve = SERVE[kind](register)
  const http = createServer((request, response) => {
    void (async () => {
      const body = await readAll(request)
      const message = body === '' ? undefined : (JSON.parse(body) as { method?: string; id?: number; params?: { cursor?: string } })
      requests.push({ method: request.method!, headers: request.headers, ...(message?.method === undefined ? {} : { rpc: message.method }) })
      if (answer?.(request, response) === true) return
      const own = message?.method === 'tools/list' ? list?.(message.params?.cursor) : message?.method === 'tools/call' ? called : undefined
      if (message === undefined || own === undefined) return await serve(request, response, message)
      const result = own === null ? null : { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...own }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }))
    })().catch(() => response.destroy())
  })
  http.on('connection', (socket) => {
    state.sockets.add(socket)
    socket.on('close', () => state.sockets.delete(socket))
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const { port } = http.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${options.path ?? '/mcp'}`,
    port,
    requests,
    calls,
    cancelled: state.cancelled,
    addTool: (name, description = `The tool ${name}.`) => {
      tools[name] = { description, input: { [`of_${name}`]: z.string().describe(description).optional() }, run: async () => text(name) }
    },
    resultAs: (given) => {
      called = given as object | null | undefined
    },
    listAs: (given) => {
      list = given
    },
    intercept: (given) => {
      answer = given
    },
    forget() {
      requests.length = 0
      calls.length = 0
      state.cancelled.length = 0
    },
    hangUp() {
      for (const socket of state.sockets) socket.destroy()
    },
    async close() {
      for (const socket of state.sockets) socket.destroy()
      http.close()
      await once(http, 'close')
    },
  }
}

type Register = (server: SessionServer | ModernServer) => void
type Serve = (request: IncomingMessage, response: ServerResponse, message: unknown) => Promise<void>

const INFO = { name: 'test-server', version: '1.0.0' }

const SERVE: { readonly [kind in McpKind]: (register: Register) => Serve } = {
  modern(register) {
    const handler = createMcpHandler(() => {
      const server = new ModernServer(INFO)
      register(server)
      return server
    })
    return async (request, response, message) => {
      const gone = new AbortController()
      response.on('close', () => gone.abort())
      const answer = await handler.fetch(
        new Request(`http://127.0.0.1${request.url}`, {
          method: request.method!,
          headers: request.headers as Record<string, string>,
          signal: gone.signal,
          ...(message === undefined ? {} : { body: JSON.stringify(message) }),
        }),
      )
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) response.write(chunk)
      response.end()
    }
  },
  sessions(register) {
    const sessions = new Map<string, StreamableHTTPServerTransport>()
    return async (request, response, message) => {
      const id = request.headers['mcp-session-id']
      let transport = typeof id === 'string' ? sessions.get(id) : undefined
      if (transport === undefined) {
        if (id !== undefined) {
          response
            .writeHead(404, { 'content-type': 'application/json' })
            .end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}')
          return
        }
        const fresh = new StreamableHTTPServerTransport({
          sessionIdGenerator: () => randomUUID(),
          onsessioninitialized: (given) => void sessions.set(given, fresh),
          onsessionclosed: (given) => void sessions.delete(given),
        })
        const server = new SessionServer(INFO)
        register(server)
        await server.connect(fresh)
        transport = fresh
      }
      await transport.handleRequest(request, response, message)
    }
  },
  sse(register) {
    const sessions = new Map<string, SSEServerTransport>()
    return async (request, response, message) => {
      if (request.method === 'GET') {
        const transport = new SSEServerTransport('/messages', response)
        sessions.set(transport.sessionId, transport)
        const server = new SessionServer(INFO)
        register(server)
        await server.connect(transport)
        return
      }
      const session = sessions.get(new URL(request.url!, 'http://x').searchParams.get('sessionId') ?? '')
      if (session === undefined) response.writeHead(405).end()
      else await session.handlePostMessage(request, response, message)
    }
  },
}

async function readAll(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  return body
}
