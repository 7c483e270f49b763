import { describe, expect, it } from 'vitest'
import { robotsAllow } from './robots.ts'
import { verifies } from '../../../e2e/requirements.ts'
import { threadTime } from '../../testing/thread-time.ts'

const text = `
# comment
User-agent: other
Disallow: /

User-agent: *
User-agent: crawler
Disallow: /private
Allow: /private/open
Disallow: /*.pdf$
Disallow: /a*/c

User-agent: signalbox
Disallow: /only-for-us
`

describe('robots.txt', () => {
  it.each([
    ['nobody', '/', true],
    ['nobody', '/private/x', false],
    ['nobody', '/private/open/x', true],
    ['nobody', '/doc.pdf', false],
    ['nobody', '/doc.pdf?x', true],
    ['nobody', '/abc/c', false],
    ['nobody', '/abc/d', true],
    ['crawler', '/private', false],
    ['other', '/anything', false],
    ['signalbox', '/private/x', true],
    ['Signalbox', '/only-for-us', false],
  ])('%s at %s: %s', (agent, path, allowed) => expect(robotsAllow(text, agent, path)).toBe(allowed))

  it.each([
    ['/caf%C3%A9/a', 'Disallow: /café'],
    ['/caf%C3%A9/a', 'Disallow: /caf%c3%a9'],
    ['/~me/a', 'Disallow: /%7Eme'],
    ['/%61b', 'Disallow: /ab'],
    ['/a%20b', 'Disallow: /a b'],
  ])('%s falls under %s, however it is spelled', (path, rule) => expect(robotsAllow(`User-agent: *\n${rule}`, 'x', path)).toBe(false))
  it('distinguishes an escaped slash from a path separator', () => {
    expect(robotsAllow('User-agent: *\nDisallow: /a%2Fb', 'x', '/a/b')).toBe(true)
  })

  it('allows everything when there are no rules', () => expect(robotsAllow('<html>not found</html>', 'signalbox', '/')).toBe(true))
  it(verifies('B7', 'is linear in patterns that would stall a backtracking matcher'), () => {
    const started = threadTime()
    expect(robotsAllow(`User-agent: *\nDisallow: /${'*a'.repeat(1_000)}b$`, 'x', `/${'a'.repeat(50_000)}`)).toBe(true)
    expect(threadTime() - started).toBeLessThan(1_000)
  })
})
