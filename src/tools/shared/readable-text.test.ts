import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { createDeflate } from 'node:zlib'
import { parseHTML } from 'linkedom'
import { describe, expect, it, vi } from 'vitest'
import { DocumentParser } from './parse-document.ts'
import { readDocument } from './readable-text.ts'
import { verifies } from '../../../e2e/requirements.ts'

const read = (html: string, charset = 'utf-8') => readDocument(Buffer.from(html, charset === 'latin1' ? 'latin1' : 'utf8'), 'html', charset)

/** A one-page document, written by hand: the reader has to reconstruct the offsets in its table. */
const PDF = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj
4 0 obj<</Length 44>>stream
BT /F1 18 Tf 50 150 Td (Hello from a PDF) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>
%%EOF`

describe('pages as text', () => {
  it('reads long lists of siblings once, because the parser creates a new list each time', async () => {
    let owner: object = parseHTML('<p>').document
    while (!Object.hasOwn(owner, 'childNodes')) owner = Object.getPrototypeOf(owner) as object
    const lists = vi.spyOn(owner as { childNodes: { readonly length: number } }, 'childNodes', 'get')
    await read(`<body>${'<p>one</p>'.repeat(1_000)}<pre>${'<b>x</b>'.repeat(1_000)}</pre></body>`)
    const members = lists.mock.results.reduce((sum, { value }) => sum + (value as { readonly length: number }).length, 0)
    lists.mockRestore()
    expect(members).toBeLessThan(20 * 4_000)
  })

  it('reads the text of few elements to find who wrote the page: of nested ones each has the text of all in it', async () => {
    const element = Object.getPrototypeOf(parseHTML('<b>').document.createElement('b').constructor) as { readonly prototype: object }
    let owner = element.prototype
    while (!Object.hasOwn(owner, 'textContent')) owner = Object.getPrototypeOf(owner) as object
    const texts = vi.spyOn(owner as { textContent: string }, 'textContent', 'get')
    await read(`<article>${'<b>'.repeat(500)}deep${'</b>'.repeat(500)}</article>`)
    const count = texts.mock.calls.length
    texts.mockRestore()
    expect(count).toBeLessThan(100)
  })
  it('leaves out who wrote it, however that is marked', async () => {
    const words = 'Words of the article, of which there are some, and more of them. '.repeat(8)
    for (const mark of ['class="byline"', 'rel="author"', 'itemprop="author"', 'id="p-author"', 'class="x"']) {
      const { text } = await read(`<html><body><article><div ${mark}>By Jane Roe</div><p>${words}</p><p>${words}</p></article>`)
      expect(text.includes('Jane Roe')).toBe(mark === 'class="x"')
    }
  })

  it('keeps headings, lists and links, and leaves out invisible elements', async () => {
    const { text, title } = await read(
      '<html><head><title>T</title></head><body><h2>Fruit</h2><ul><li>Apple</li><li><a href="https://a.test/b">Pear</a></li></ul><p hidden>secret</p><p style="display:none">hidden</p><script>x()</script></body></html>',
    )
    expect(title).toBe('T')
    expect(text).toBe('## Fruit\n\n- Apple\n\n- [Pear](https://a.test/b)')
  })
  it('keeps the lines of code and their indentation', async () => {
    const code = 'def f(x):\n    if x:\n\n\n        return  1\n'
    const { text } = await read(
      `<main><p>Like   this:</p><pre><code>\n${code.replace('return', '<b>return</b>')}</code></pre><p>Or
        <ul><li>a<pre>b<br>  c</pre></li></ul><pre>   </pre><pre>x \`\`\` y</pre></main>`,
    )
    expect(text).toBe(`Like this:\n\n\`\`\`\n${code.trimEnd()}\n\`\`\`\n\nOr\n\n- a\n\n\`\`\`\nb\n  c\n\`\`\`\n\n\`\`\`\`\nx \`\`\` y\n\`\`\`\``)
    // A page that consists of code, as with standards and mailing lists.
    expect((await read(`<pre>${'  1. One\n     two\n'.repeat(40)}</pre>`)).text).toContain('  1. One\n     two\n  1. One')
    expect((await read(`<pre>${'<i>'.repeat(5_000)}deep</pre>`)).text).toContain('deep')
  })
  it('reads other charsets and fragments', async () => {
    expect((await read('<p>Zürich', 'latin1')).text).toBe('Zürich')
    expect((await read('just words', 'no-such-charset')).text).toBe('just words')
  })
  it.each([
    ['<meta charset="windows-1251">', 'windows-1251', '\xcf\xf0\xe8\xe2\xe5\xf2', 'Привет'],
    ['<META http-equiv=Content-Type content="text/html; charset=Shift_JIS">', 'shift_jis', '\x93\xfa\x96{', '日本'],
    ["<meta charset = 'gb2312' >", 'gb2312', '\xc4\xe3\xba\xc3', '你好'],
    ['<?xml version="1.0" encoding="windows-1251"?>', 'windows-1251', '\xcf\xf0\xe8\xe2\xe5\xf2', 'Привет'],
    ['<meta charset="utf-16">', 'utf-8', 'Z\xc3\xbcrich', 'Zürich'],
    ['<meta name="x"><p>charset=windows-1251</p>', 'utf-8', 'Z\xc3\xbcrich', 'charset=windows-1251\n\nZürich'],
    ['\xef\xbb\xbf<meta charset="windows-1251">', 'utf-8', 'Z\xc3\xbcrich', 'Zürich'],
    ['<meta charset="no-such">', 'utf-8', 'Z\xc3\xbcrich', 'Zürich'],
  ])('uses the charset of %s where the server names none', async (head, charset, bytes, text) => {
    const page = Buffer.from(`${head}<p>${bytes}</p>`, 'latin1')
    expect((await readDocument(page, 'html')).text).toBe(text)
    expect((await readDocument(page, 'html', charset)).text).toBe(text)
  })
  it.each([undefined, 'utf-8'])('prefers a UTF-16 byte order mark over anything else (server: %s)', async (charset) => {
    expect((await readDocument(Buffer.from('\ufeff<p>Zürich', 'utf16le'), 'html', charset)).text).toBe('Zürich')
  })
  it('prefers the charset of the server over that of the page', async () => {
    expect((await readDocument(Buffer.from('<meta charset="windows-1251"><p>Zürich'), 'html', 'utf-8')).text).toBe('Zürich')
  })
  it('reads a document nested deeper than any stack', async () => {
    expect((await read(`${'<b>'.repeat(5_000)}deep`)).text).toBe('deep')
  })
  it('reads PDF', async () => expect((await readDocument(Buffer.from(PDF), 'pdf', 'utf-8')).text).toBe('Hello from a PDF'))
})

describe('parsing in workers', () => {
  const signal = new AbortController().signal
  const parser = new DocumentParser()

  it('reuses a worker for several documents', async () => {
    const bytes = Buffer.from('<p>words</p>')
    const texts = await Promise.all([1, 2, 3, 4].map(() => parser.parse({ bytes, kind: 'html', charset: 'utf-8' }, signal)))
    expect(texts.map(({ text }) => text)).toEqual(['words', 'words', 'words', 'words'])
  })
  it(verifies('H7', 'ends a worker that takes too long, and continues with another'), async () => {
    const big = Buffer.from('<table>'.repeat(20_000))
    await expect(parser.parse({ bytes: big, kind: 'html', charset: 'utf-8' }, signal, 20)).rejects.toMatchObject({ errorType: 'unprocessable' })
    expect((await parser.parse({ bytes: Buffer.from('<p>still here'), kind: 'html', charset: 'utf-8' }, signal)).text).toBe('still here')
  })
  it(verifies('H7', 'ends a worker whose document expands beyond its memory limit, long before its time is over'), async () => {
    const packed = await buffer(Readable.from(Array<Buffer>(400).fill(Buffer.alloc(1024 * 1024, 0x20))).pipe(createDeflate({ level: 1 })))
    const [head, tail] = PDF.split(/<<\/Length 44>>\n?stream\n[\s\S]*?\nendstream/)
    const bytes = Buffer.concat([
      Buffer.from(`${head}<</Length ${packed.length}/Filter/FlateDecode>>\nstream\n`),
      packed,
      Buffer.from(`\nendstream${tail}`),
    ])
    const before = process.memoryUsage().rss
    let peak = 0
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5)
    await expect(parser.parse({ bytes, kind: 'pdf', charset: 'utf-8' }, signal, 60_000)).rejects.toMatchObject({
      errorType: 'unprocessable',
      message: 'The document is too large to read',
    })
    clearInterval(watch)
    expect(peak - before).toBeLessThan(1200 * 1024 * 1024)
    expect((await parser.parse({ bytes: Buffer.from('<p>still here'), kind: 'html', charset: 'utf-8' }, signal)).text).toBe('still here')
  })
  it(verifies('H7', 'reports a damaged document'), async () => {
    await expect(parser.parse({ bytes: Buffer.from('%PDF-1.4 nothing'), kind: 'pdf', charset: 'utf-8' }, signal)).rejects.toMatchObject({
      message: expect.stringContaining('damaged') as string,
    })
  })
})
