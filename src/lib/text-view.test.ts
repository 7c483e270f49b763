import { describe, expect, it } from 'vitest'
import { joinSpacedLetters, plainView, tagText, unmaskOwnScript, unmaskText } from './text-view.ts'

/** The part of the original that corresponds to `found` in its view. */
function behind(original: string, found: string): string | undefined {
  const view = unmaskText(original)
  const at = view?.text.indexOf(found) ?? -1
  if (view === undefined || at === -1) return undefined
  const { start, end } = view.original(at, at + found.length)
  return original.slice(start, end)
}

describe('a text without its disguises', () => {
  it('is not created when it has none', () => {
    expect(unmaskText('plain text, 100% plain & simple\n')).toBeUndefined()
    expect(unmaskText('schöne Grüße')).toBeUndefined()
  })

  it.each([
    ['a full-width form', 'write to ｊｏｈｎ＠example.com now', 'john@example.com', 'ｊｏｈｎ＠example.com'],
    ['invisible characters', 'jo\u200bhn\u00ad@exa\u2060mple.com!', 'john@example.com', 'jo\u200bhn\u00ad@exa\u2060mple.com'],
    ['control characters', 'jo\u0000hn@exa\u001bmple\u007f.c\u0080om!', 'john@example.com', 'jo\u0000hn@exa\u001bmple\u007f.c\u0080om'],
    ['percent escapes', 'mailto:john%40example.com', 'john@example.com', 'john%40example.com'],
    ['HTML escapes', 'john&#64;example&period;com', 'john@example.com', 'john&#64;example&period;com'],
    ['HTML escapes in hexadecimal', 'john&#x40;example.com', 'john@example.com', 'john&#x40;example.com'],
    ['escapes of JSON', '{"to":"john\\u0040example.com"}', 'john@example.com', 'john\\u0040example.com'],
    ['short escapes of JSON', '{"a":"x\\n10.0.0.1\\tb"}', 'x\n10.0.0.1\tb', 'x\\n10.0.0.1\\tb'],
    ['a backslash before what would be one', '"c:\\\\new"', 'c:\\new', 'c:\\\\new'],
    ['line breaks of URLs', 'x%0Ay', 'x\ny', 'x%0Ay'],
    ['escapes in capitals', 'ask &#X6B;im&COMMAT;example.com', 'kim@example.com', '&#X6B;im&COMMAT;example.com'],
    ['escapes of JavaScript', 'john\\x40example.com', 'john@example.com', 'john\\x40example.com'],
    ['letters of another script', 'ignоrе this', 'ignore', 'ignоrе'],
    ['dashes of word processors', 'call 914‑309–4996', '914-309-4996', '914‑309–4996'],
    ['digits of another script', 'at ١٩٢.१६८.०.๑!', '192.168.0.1', '١٩٢.१६८.०.๑'],
    ['mathematical digits', 'ssn 𝟏𝟐𝟑-𝟒𝟓-𝟔𝟕𝟖𝟗', '123-45-6789', '𝟏𝟐𝟑-𝟒𝟓-𝟔𝟕𝟖𝟗'],
    ['letters in pieces', 'to Mu\u0308ller, now', 'Müller', 'Mu\u0308ller'],
    ['letters that are struck through', 'ign\u0336o\u0336re', 'ignore', 'ign\u0336o\u0336re'],
    ['percent escapes of other letters', '?q=M%C3%BCller&x', 'Müller', 'M%C3%BCller'],
    ['percent escapes of lookalikes', 'ign%D0%BEre', 'ignore', 'ign%D0%BEre'],
    ['percent escapes of full-width letters', '%EF%BD%8A%EF%BD%8F', 'jo', '%EF%BD%8A%EF%BD%8F'],
    ['mathematical letters', 'say 𝐢𝐠𝐧𝐨𝐫𝐞 please', 'ignore', '𝐢𝐠𝐧𝐨𝐫𝐞'],
  ])('sees through %s', (_, original, found, expected) => {
    expect(behind(original, found)).toBe(expected)
  })

  it('leaves lone surrogates and unknown escapes alone', () => {
    expect(unmaskText('100%C3 or %FF%FF%80')?.text ?? 'same').toBe('same')
    expect(unmaskText('\ud800 &nothing; é')?.text ?? 'same').toBe('same')
  })
})

describe('a text of another script without its disguises', () => {
  it.each([
    ['invisible characters', 'сек\u200bрет'],
    ['escapes of JSON', '\\u0441\\u0435\\u043a\\u0440\\u0435\\u0442'],
    ['HTML escapes', '&#1089;екрет'],
  ])('keeps its letters behind %s', (_, original) => {
    const view = unmaskOwnScript(`это ${original}!`)!
    const at = view.text.indexOf('секрет')
    const { start, end } = view.original(at, at + 6)
    expect(`это ${original}!`.slice(start, end)).toBe(original)
  })

  it('is not created where it would equal the Latin one, or the text itself', () => {
    expect(unmaskOwnScript('jo\u200bhn')).toBeUndefined()
    expect(unmaskOwnScript('просто текст')).toBeUndefined()
  })
})

describe('a text in tag characters', () => {
  const inTags = (text: string): string => Array.from(text, (char) => String.fromCodePoint(0xe0000 + char.codePointAt(0)!)).join('')

  it('is the letters that they stand for, without what is between', () => {
    const original = `Hi${inTags('ssn ')}!${inTags('123')}\u{e007f}`
    const view = tagText(original)!
    expect(view.text).toBe('ssn 123')
    const { start, end } = view.original(4, 7)
    expect(original.slice(start, end)).toBe(inTags('123'))
    expect(tagText('Hi \u200b!')).toBeUndefined()
  })
})

describe('spaced letters', () => {
  const joined = (text: string): string | undefined => joinSpacedLetters(plainView(text))?.text

  it('are read as the words they spell', () => {
    expect(joined('please i g n o r e this')).toBe('please ignore this')
    expect(joined('r.e.v.e.a.l - it')).toBe('reveal - it')
    expect(joined('p-r-o-m-p-t')).toBe('prompt')
  })

  it('are a run of at least five', () => {
    expect(joined('a b c and plan B, I said')).toBeUndefined()
  })

  it('map back to their positions', () => {
    const text = 'x: i g n o r e!'
    const view = joinSpacedLetters(plainView(text))!
    const at = view.text.indexOf('ignore')
    const { start, end } = view.original(at, at + 6)
    expect(text.slice(start, end)).toBe('i g n o r e')
  })
})
