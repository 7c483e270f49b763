import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** One step in the index, in the shape that `src/testing/recordings.ts` reads. */
export interface Step {
  readonly step: number
  readonly dialect: string
  readonly provider: string
  readonly stream: boolean
  readonly status: number
  readonly url: string
  readonly response: string
  readonly request: string
  readonly framing: string
  readonly features: readonly string[]
  readonly models: readonly string[]
  readonly response_headers: { readonly [name: string]: string }
  readonly bytes: number
  readonly sha256: string
}

interface Scenario {
  readonly id: string
  readonly dialect: string
  readonly provider: string
  readonly origin: string
  readonly steps: readonly Step[]
}

export interface NewStep extends Pick<Step, 'dialect' | 'provider' | 'stream' | 'status' | 'url' | 'features' | 'models' | 'response_headers'> {
  readonly name: string
  readonly request: string
  readonly response: Buffer
  readonly contentType: string
}

const EXTENSIONS: readonly (readonly [type: RegExp, extension: string, framing: string])[] = [
  [/eventstream/, 'eventstream', 'AWS event stream (payloads scrubbed, checksums made anew)'],
  [/event-stream/, 'sse', 'raw SSE body (scrubbed)'],
]

/** Adds one step to a scenario, which is created if it does not exist. Returns the files, relative to the folder. */
export function addStep(folder: string, added: NewStep): { readonly request: string; readonly response: string } {
  const indexPath = join(folder, 'index.json')
  const index = existsSync(indexPath) ? (JSON.parse(readFileSync(indexPath, 'utf8')) as Scenario[]) : []
  const id = `${added.dialect}/${added.provider}/${added.name}`
  const before = index.find((scenario) => scenario.id === id)
  const number = before?.steps.length ?? 0
  const [, extension, framing] = EXTENSIONS.find(([type]) => type.test(added.contentType)) ?? [/./, 'json', 'json (raw HTTP body, scrubbed)']
  const file = `${id}/${String(number).padStart(2, '0')}`
  const { name: _, request, response, contentType: __, ...rest } = added
  const step: Step = {
    step: number,
    ...rest,
    request: `${file}.request.json`,
    response: `${file}.response.${extension}`,
    framing,
    bytes: response.length,
    sha256: createHash('sha256').update(response).digest('hex'),
  }
  mkdirSync(join(folder, dirname(file)), { recursive: true })
  writeFileSync(join(folder, step.request), request)
  writeFileSync(join(folder, step.response), response)
  const scenario: Scenario = {
    id,
    dialect: added.dialect,
    provider: added.provider,
    origin: 'recorded HTTP exchange',
    steps: [...(before?.steps ?? []), step],
  }
  writeFileSync(indexPath, `${JSON.stringify([...index.filter((other) => other !== before), scenario], undefined, 1)}\n`)
  return { request: step.request, response: step.response }
}
