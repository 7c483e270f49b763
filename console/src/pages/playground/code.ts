import type { Body } from './body.ts'

export interface Snippet {
  readonly label: string
  readonly text: string
}

/** The environment variable with the key, which is never written into code. */
const VARIABLE = 'SIGNALBOX_API_KEY'

/** The request as code; `origin` is the gateway's: `https://gateway.example`. */
export function snippetsOf(body: Body, origin: string): readonly Snippet[] {
  return [
    { label: 'curl', text: curl(body, origin) },
    { label: 'Python', text: python(body, origin) },
    { label: 'TypeScript', text: typescript(body, origin) },
  ]
}

function curl(body: Body, origin: string): string {
  return [
    `curl ${body['stream'] === true ? '-N ' : ''}${origin}/api/v1/responses \\`,
    `  -H "Authorization: Bearer $${VARIABLE}" \\`,
    `  -H 'Content-Type: application/json' \\`,
    // For a quote: end the shell's string, add an escaped quote, and begin the next string.
    `  -d '${JSON.stringify(body, null, 2).replaceAll("'", String.raw`'\''`)}'`,
  ].join('\n')
}

/** Parameters that the official clients have by name; all others must be passed as extra body. */
const OF_CLIENTS: ReadonlySet<string> = new Set([
  'model',
  'instructions',
  'input',
  'temperature',
  'top_p',
  'max_output_tokens',
  'max_tool_calls',
  'reasoning',
  'text',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'metadata',
  'store',
  'stream',
  'truncation',
  'user',
])

function python(body: Body, origin: string): string {
  const { known, others } = divided(body)
  const lines = Object.entries(known).map(([name, value]) => `    ${name}=${literal(value, 4)},`)
  if (Object.keys(others).length > 0) lines.push(`    extra_body=${literal(others, 4)},`)
  const call = ['client.responses.create(', ...lines, ')'].join('\n')
  const use =
    body['stream'] === true
      ? [
          'stream = ' + call,
          'for event in stream:',
          '    if event.type == "response.output_text.delta":',
          '        print(event.delta, end="", flush=True)',
        ]
      : ['response = ' + call, 'print(response.output_text)']
  return [
    'import os',
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url=${JSON.stringify(`${origin}/api/v1`)}, api_key=os.environ["${VARIABLE}"])`,
    '',
    ...use,
  ].join('\n')
}

/** A value as Python code: JSON except for three keywords. JSON strings are valid in Python if surrogate pairs are written out. */
function literal(value: unknown, indent: number): string {
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (value === null || value === undefined) return 'None'
  if (typeof value !== 'object') return JSON.stringify(value)
  const inner = ' '.repeat(indent + 4)
  const list = Array.isArray(value)
  const entries = list
    ? value.map((entry) => literal(entry, indent + 4))
    : Object.entries(value).map(([name, entry]) => `${JSON.stringify(name)}: ${literal(entry, indent + 4)}`)
  const [open, close] = list ? ['[', ']'] : ['{', '}']
  if (entries.length === 0) return open + close
  return `${open}\n${entries.map((entry) => `${inner}${entry},\n`).join('')}${' '.repeat(indent)}${close}`
}

function typescript(body: Body, origin: string): string {
  const { known, others } = divided(body)
  // Spreading an object of unknown shape passes the client's types, which know only their vendor's members.
  const more = Object.keys(others).length === 0 ? '' : `  ...(${indented(unquoted(others))} as object),\n`
  const members = Object.entries(known).map(([name, value]) => `  ${name}: ${indented(unquoted(value))},\n`)
  const call = `client.responses.create({\n${members.join('')}${more}})`
  const use =
    body['stream'] === true
      ? [
          `const stream = await ${call}`,
          'for await (const event of stream) {',
          "  if (event.type === 'response.output_text.delta') process.stdout.write(event.delta)",
          '}',
        ]
      : [`const response = await ${call}`, 'console.log(response.output_text)']
  return [
    "import OpenAI from 'openai'",
    '',
    `const client = new OpenAI({ baseURL: '${origin}/api/v1', apiKey: process.env.${VARIABLE} })`,
    '',
    ...use,
  ].join('\n')
}

/** JSON with unquoted member names. Quotes within a string are escaped, so none is mistaken for a name. */
const unquoted = (value: unknown): string => JSON.stringify(value, null, 2).replaceAll(/^(\s*)"([A-Za-z_]\w*)":/gm, '$1$2:')
const indented = (text: string): string => text.replaceAll('\n', '\n  ')

/** Splits what the clients' types know from what has to bypass them. */
function divided(body: Body): { readonly known: Body; readonly others: Body } {
  const isKnown = (name: string): boolean => OF_CLIENTS.has(name) && (name !== 'tools' || onlyFunctions(body['tools']))
  const only = (wanted: boolean): Body => Object.fromEntries(Object.entries(body).filter(([name]) => isKnown(name) === wanted))
  return { known: only(true), others: only(false) }
}

const onlyFunctions = (tools: unknown): boolean =>
  Array.isArray(tools) && tools.every((tool: unknown) => typeof tool === 'object' && tool !== null && 'type' in tool && tool.type === 'function')
