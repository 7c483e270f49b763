import { describe, expect, it } from 'vitest'
import { verifies } from '../../e2e/requirements.ts'
import { GatewayError } from '../core/error.ts'
import type { InputFile, InputPart } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'
import type { DocumentReader, WebPages } from '../core/web.ts'
import { testEndpoint } from '../testing/endpoints.ts'
import { testContext } from '../testing/plugin-context.ts'
import { describePluginContract, SECRET_WORD } from '../testing/plugin-contract.ts'
import { createFileParser, type FileParserOptions } from './file-parser.ts'
import type { ReadResult, ReadyDocumentEngine } from './shared/document-engine.ts'

const textOnly = testEndpoint({ inputModalities: ['text'] })
const withFiles = testEndpoint({ inputModalities: ['text', 'image', 'file'] })

/** An endpoint that accepts files, but whose dialect reads only CSV. */
const picky: typeof withFiles = {
  ...withFiles,
  connection: {
    ...withFiles.connection,
    dialect: { ...withFiles.connection.dialect, takesFile: ({ filename }) => filename?.endsWith('.csv') === true },
  },
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const PDF = base64('%PDF-1.7 pretend')
const file = (parts: Partial<InputFile>): InputFile => ({ type: 'input_file', ...parts })
const pdf = file({ filename: 'report.pdf', file_data: `data:application/pdf;base64,${PDF}` })
const request = (...parts: readonly InputPart[]): ModelRequest => ({
  model: 'acme/small',
  input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'what is in it?' }, ...parts] }],
})

/** The plugin's surroundings: a reader that records what it was given, files at URLs, and engines that answer with this. */
function room({
  read,
  unreadable = false,
  engines = {},
  known = [],
  engine = 'pdf-text',
}: {
  read?: ReadResult | undefined
  unreadable?: boolean
  engines?: { [name: string]: ReadResult | undefined }
  known?: readonly string[]
  engine?: string
} = {}) {
  const work: string[] = []
  const reader: DocumentReader = {
    read: async (bytes, kind) => {
      work.push(`${kind}: ${Buffer.from(bytes).toString()}`)
      if (unreadable) throw new GatewayError('unprocessable', 'The document cannot be read: it is damaged or protected')
      return read ?? { text: 'The text inside.', pages: 3 }
    },
  }
  const pages: WebPages = {
    fetch: async () => Promise.reject(new Error('no pages here')),
    download: async ({ url }) => {
      work.push(`download: ${url}`)
      if (url.includes('gone')) throw new GatewayError('not_found', "The file's address answers with status 404")
      return { bytes: Buffer.from('%PDF-1.7 far away'), mimeType: 'application/pdf' }
    },
  }
  const ready = Object.entries(engines).map(([name, result]): ReadyDocumentEngine => ({
    engine: { name, env: { apiKey: [] }, baseUrl: '', price: 0.002, request: () => ({ path: '', headers: {}, body: '' }), read: () => result },
    price: 0.002,
    read: async ({ name: fileName }) => {
      work.push(`${name}: ${fileName}`)
      return result
    },
  }))
  const options: FileParserOptions = {
    reader,
    pages,
    engines: ready,
    known: new Map([...Object.keys(engines), ...known].map((name) => [name, { replaceable: name === 'free-ocr' }])),
    engine,
  }
  return { work, plugin: createFileParser(options) }
}

const contentOf = (changed: ModelRequest | undefined): readonly InputPart[] =>
  ((changed?.input[0] as { readonly content?: readonly InputPart[] } | undefined)?.content ?? []).slice(1)

async function adapt(
  given: ModelRequest,
  { settings = {}, endpoint = textOnly, ...scene }: Parameters<typeof room>[0] & { settings?: object; endpoint?: typeof textOnly } = {},
) {
  const { work, plugin } = room(scene)
  const { context, reported } = testContext(plugin.settings.parse(settings), { request: given, endpoints: [endpoint] })
  const changed = await plugin.adapts!.adapt(given, endpoint, context, false)
  return { work, parts: contentOf(changed), reported, changed }
}
async function prepare(
  given: ModelRequest,
  engine: string,
  { endpoint = withFiles, ...scene }: Parameters<typeof room>[0] & { endpoint?: typeof textOnly } = {},
) {
  const { work, plugin } = room(scene)
  const settings = { pdf: { engine } }
  const { context, reported } = testContext(settings, { request: given, endpoints: [endpoint] })
  plugin.check!(settings)
  const changed = await plugin.prepare!(given, context)
  return { work, parts: contentOf(changed), reported, changed }
}

describePluginContract({
  plugin: room({ engines: { scanner: { text: `The ${SECRET_WORD}.`, pages: 2, images: [] } } }).plugin,
  accepts: [{}, { pdf: {} }, { pdf: { engine: 'pdf-text' } }],
  refuses: [{ pdf: 'pdf-text' }, { pdf: { engine: 1 } }],
  untouched: [
    { request: request(), endpoint: textOnly },
    { request: request(pdf), endpoint: withFiles },
    { request: request(pdf), endpoint: textOnly, settings: { pdf: { engine: 'native' } } },
    { request: request(file({ file_id: 'file_1' })), endpoint: textOnly },
  ],
  touched: [{ request: request({ type: 'input_text', text: SECRET_WORD }, pdf), endpoint: textOnly }],
})

describe('endpoints that take no files', () => {
  it.each<[string, string, Buffer]>([
    ['16 bits a character', 'data:text/csv', Buffer.from('\ufeffGröße;5', 'utf16le')],
    ['the charset its caller names', 'data:text/csv;charset=iso-8859-1', Buffer.from('Größe;5', 'latin1')],
    ['a mark at its beginning', 'data:text/csv', Buffer.from('\ufeffGröße;5')],
  ])('get a text file in %s decoded', async (_what, type, bytes) => {
    const { parts } = await adapt(request(file({ filename: 'a.csv', file_data: `${type};base64,${bytes.toString('base64')}` })))
    expect(parts).toEqual([{ type: 'input_text', text: 'The text of the file "a.csv":\n\nGröße;5' }])
  })
  it.each([
    ['Dockerfile', 'data:application/octet-stream;base64,'],
    ['app.conf', 'data:application/x-conf;base64,'],
    ['app.kt', ''],
  ])('get a file whose name and type say nothing, if it is text (%s)', async (filename, head) => {
    const sent = (bytes: Buffer) => adapt(request(file({ filename, file_data: `${head}${bytes.toString('base64')}` })))
    expect((await sent(Buffer.from('Größe 5'))).parts).toEqual([{ type: 'input_text', text: `The text of the file "${filename}":\n\nGröße 5` }])
    await expect(sent(Buffer.from('PK\x03\x04\x14\0'))).rejects.toThrow('cannot be read as text')
  })
  it('get the text in the file’s place', async () => {
    const { parts, reported, work } = await adapt(request(pdf))
    expect(work).toEqual(['pdf: %PDF-1.7 pretend'])
    expect(parts).toEqual([{ type: 'input_text', text: 'The text of the file "report.pdf", 3 pages:\n\nThe text inside.' }])
    expect(reported).toEqual([
      {
        stage: { type: 'plugin', name: 'file-parser', summary: '1 file read as text by pdf-text', data: { engine: 'pdf-text', files: 1, pages: 3 } },
        cost: 0,
      },
    ])
  })
  it.each([
    ['base64 without a prefix', file({ filename: 'a.pdf', file_data: PDF }), 'pdf: %PDF-1.7 pretend'],
    ['HTML', file({ filename: 'a.html', file_data: base64('<p>x') }), 'html: <p>x'],
    ['an address', file({ file_url: 'https://example.com/x/far.pdf' }), 'download: https://example.com/x/far.pdf'],
    ['the data where an address goes', file({ file_url: `data:application/pdf;base64,${PDF}` }), 'pdf: %PDF-1.7 pretend'],
    ['an address where the data goes', file({ file_data: 'https://example.com/x/far.pdf' }), 'download: https://example.com/x/far.pdf'],
  ])('get the text of %s', async (_what, part, first) => {
    const { parts, work } = await adapt(request(part))
    expect(work[0]).toBe(first)
    expect(parts[0]).toMatchObject({ type: 'input_text', text: expect.stringContaining('The text inside.') as string })
  })
  it.each([
    ['notes.md', '# Title'],
    ['data.csv', 'a,b\n1,2'],
    ['data.json', '{"a": 1}'],
  ])('get %s as it is', async (filename, text) => {
    const { parts, work } = await adapt(request(file({ filename, file_data: base64(text) })))
    expect(work).toEqual([])
    expect(parts).toEqual([{ type: 'input_text', text: `The text of the file "${filename}":\n\n${text}` }])
  })
  it('get files inside results of tools, too', async () => {
    const given: ModelRequest = { input: [{ type: 'function_call_output', call_id: 'c', output: [pdf] }] }
    const { changed } = await adapt(given)
    expect(changed?.input[0]).toMatchObject({ output: [{ type: 'input_text' }] })
  })
  it('get the cache breakpoint of a file at the end of its text', async () => {
    const mark = { prompt_cache_breakpoint: { mode: 'explicit', ttl: '1h' } } as const
    const marked = request({ ...pdf, ...mark }, pdf)
    expect((await adapt(marked)).parts).toEqual([expect.objectContaining(mark), expect.not.objectContaining(mark)])
    const images = ['data:image/png;base64,AA']
    const endpoint = testEndpoint({ inputModalities: ['text', 'image'] })
    const scanned = { settings: { pdf: { engine: 'scanner' } }, engines: { scanner: { text: 'x', pages: 1, images } }, endpoint }
    const { parts } = await adapt(request({ ...pdf, ...mark }), scanned)
    expect(parts).toEqual([expect.not.objectContaining(mark), { type: 'input_image', image_url: images[0], detail: 'auto', ...mark }])
  })
  it('do not get what cannot be fetched: another endpoint may', async () => {
    await expect(adapt(request(file({ file_url: 'https://example.com/gone.pdf' })))).rejects.toMatchObject({
      errorType: 'invalid_prompt',
      failover: 'next',
      message: 'input[0].content[1], the file "gone.pdf": The file\'s address answers with status 404',
      details: { path: 'input[0].content[1]' },
    })
  })
  it('do not get what is damaged: the caller is told which file, and where it stands', async () => {
    const damaged = { errorType: 'unprocessable', message: expect.stringContaining('it is damaged') as string }
    await expect(adapt(request({ type: 'input_text', text: 'and' }, pdf), { unreadable: true })).rejects.toMatchObject({
      ...damaged,
      message: 'input[0].content[2], the file "report.pdf": The document cannot be read: it is damaged or protected',
      details: { path: 'input[0].content[2]' },
    })
    const inResult: ModelRequest = {
      input: [
        { type: 'message', role: 'user', content: 'hi' },
        { type: 'function_call_output', call_id: 'c', output: [pdf] },
      ],
    }
    await expect(adapt(inResult, { unreadable: true })).rejects.toMatchObject({ ...damaged, details: { path: 'input[1].output[0]' } })
  })
  it('get a note that a scan has no text', async () => {
    const { parts } = await adapt(request(pdf), { read: { text: '  ', pages: 2, images: [] } })
    expect(parts).toEqual([{ type: 'input_text', text: 'The file "report.pdf", 2 pages, has no text that can be read.' }])
  })
  it('do not get what is no text: another endpoint may', async () => {
    const odd = file({ filename: 'a.xls', file_data: `data:application/vnd.ms-excel;base64,${base64('\u0001\u0002')}` })
    await expect(adapt(request(odd))).rejects.toMatchObject({
      errorType: 'invalid_prompt',
      failover: 'next',
      message: expect.stringContaining('"a.xls"') as string,
    })
  })
  it('get only the text of those files that they do not support', async () => {
    const csv = file({ filename: 'a.csv', file_url: 'https://example.com/a.csv' })
    const { parts, work } = await adapt(request(pdf, csv), { endpoint: picky })
    expect(work).toEqual(['pdf: %PDF-1.7 pretend'])
    expect(parts).toEqual([expect.objectContaining({ type: 'input_text' }), csv])
  })
  it('count for models that have no others, unless the caller wants native reading', () => {
    const { adapts } = room().plugin
    expect(adapts!.modalities!({})).toEqual(['file'])
    expect(adapts!.modalities!({ pdf: { engine: 'native' } })).toEqual([])
  })
})

describe('an engine the caller names', () => {
  const scan: ReadResult = { text: 'Scanned.', pages: 2, images: ['data:image/png;base64,AA', 'data:image/png;base64,BB'] }

  it('reads PDF files even for endpoints that would take them, and leaves other files', async () => {
    const csv = file({ filename: 'a.csv', file_data: base64('a,b') })
    const { parts, reported, work } = await prepare(request(pdf, csv), 'scanner', { engines: { scanner: scan } })
    expect(work).toEqual(['scanner: report.pdf'])
    expect(parts).toEqual([
      { type: 'input_text', text: 'The text of the file "report.pdf", 2 pages:\n\nScanned.' },
      { type: 'input_image', image_url: 'data:image/png;base64,AA', detail: 'auto' },
      { type: 'input_image', image_url: 'data:image/png;base64,BB', detail: 'auto' },
      csv,
    ])
    expect(reported[0]).toMatchObject({ cost: 0.004, stage: { cost_usd: 0.004, data: { engine: 'scanner', pages: 2 } } })
  })
  it('is paid for each file as it is read, whatever happens to the later ones', async () => {
    const { plugin } = room({ engines: { scanner: scan } })
    const { context, reported } = testContext({ pdf: { engine: 'scanner' } }, { endpoints: [withFiles] })
    const second = file({ filename: 'second.pdf', file_data: base64('%PDF-1.7 another') })
    const gone = file({ filename: 'gone.pdf', file_url: 'https://files.example/gone.pdf' })
    await expect(plugin.prepare!(request(pdf, second, gone), context)).rejects.toMatchObject({ message: expect.stringContaining('404') as string })
    expect(reported.map(({ cost, stage }) => [cost, stage?.cost_usd, stage?.data])).toEqual([
      [0.004, 0.004, { engine: 'scanner', files: 1, pages: 2 }],
      [0.004, 0.004, { engine: 'scanner', files: 2, pages: 4 }],
    ])
  })
  it('gives its images only to models with image input', async () => {
    const { parts } = await prepare(request(pdf), 'scanner', { engines: { scanner: scan }, endpoint: textOnly })
    expect(parts).toHaveLength(1)
  })
  it('may be the gateway’s own', async () => expect((await prepare(request(pdf), 'pdf-text')).work).toEqual(['pdf: %PDF-1.7 pretend']))
  it('is replaced by it for formats that both read', async () => {
    expect((await prepare(request(pdf), 'free-ocr', { known: ['free-ocr'] })).reported[0]?.stage?.data).toMatchObject({ engine: 'pdf-text' })
  })
  it.each([
    ['scanner', ['scanner'], 'no key for'],
    ['crystal-ball', [], 'has no engine "crystal-ball"'],
  ])('%s must be there', async (engine, known, message) => {
    await expect(prepare(request(pdf), engine, { known })).rejects.toMatchObject({
      errorType: 'invalid_request',
      message: expect.stringContaining(message) as string,
    })
  })
  it('that cannot read a file says so', async () => {
    await expect(prepare(request(pdf), 'scanner', { engines: { scanner: undefined } })).rejects.toMatchObject({
      errorType: 'unprocessable',
      message: 'input[0].content[1], the file "report.pdf": It cannot be read',
    })
  })
})

describe('an engine the operator has set as the default', () => {
  it('runs for calls with files only, and is charged', () => {
    const implied = (engine: string, given: ModelRequest) => room({ engine }).plugin.implied?.(given)
    expect([implied('scanner', request(pdf)), implied('scanner', request()), implied('pdf-text', request(pdf))]).toEqual([true, false, undefined])
  })
})

describe('a file that comes again', () => {
  it('is not read, nor paid for, a second time', async () => {
    const { work, plugin } = room({ engines: { scanner: { text: 'Scanned.', pages: 2, images: [] } } })
    const settings = { pdf: { engine: 'scanner' } }
    for (const cost of [0.004, 0]) {
      const { context, reported } = testContext(settings, { request: request(pdf), endpoints: [withFiles] })
      await plugin.prepare!(request(pdf), context)
      expect(reported[0]?.cost).toBe(cost)
    }
    expect(work).toHaveLength(1)
  })

  it('is paid for once by its call, also if it is too large to be kept for others', async () => {
    const scan = `data:image/jpeg;base64,${'a'.repeat(9 * 1024 * 1024)}`
    const { work, plugin } = room({ engine: 'scanner', engines: { scanner: { text: 'Scanned.', pages: 2, images: [scan] } } })
    const { context, reported } = testContext({}, { request: request(pdf), endpoints: [textOnly] })
    for (const turn of [request(pdf), request(pdf, pdf)]) await plugin.adapts!.adapt(turn, textOnly, context, false)
    expect([work.length, reported.map(({ cost }) => cost)]).toEqual([1, [0.004, 0]])
    await plugin.adapts!.adapt(request(pdf), textOnly, testContext({}, { request: request(pdf), endpoints: [textOnly] }).context, false)
    expect(work).toHaveLength(2)
  })

  it(verifies('H6', 'F7', 'is read again for another workspace, which learns nothing about the files of others'), async () => {
    const { work, plugin } = room({ engines: { scanner: { text: 'Scanned.', pages: 2, images: [] } } })
    const settings = { pdf: { engine: 'scanner' } }
    for (const workspaceId of ['ours', 'theirs']) {
      const { context, reported } = testContext(settings, { request: request(pdf), endpoints: [withFiles] })
      const call = { ...context.call, owner: { ...context.call.owner, workspaceId } }
      await plugin.prepare!(request(pdf), { ...context, call })
      expect(reported[0]).toMatchObject({ cost: 0.004, stage: { data: { files: 1, pages: 2 } } })
      expect(reported[0]?.stage?.data).not.toHaveProperty('cached')
    }
    expect(work).toHaveLength(2)
  })
})
