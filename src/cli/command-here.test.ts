import { expect, it } from 'vitest'
import { commandHere } from './command-here.ts'

it.each([
  ['npm start', { npm_lifecycle_event: 'start' }, '/home/me/signalbox/bin/signalbox.js', 'npx signalbox'],
  ['npx', { npm_lifecycle_event: 'npx' }, '/home/me/node_modules/.bin/signalbox', 'npx signalbox'],
  ['a global installation', {}, '/usr/local/bin/signalbox', 'signalbox'],
  ['the image', {}, '/app/bin/signalbox.js', '/nodejs/bin/node /app/bin/signalbox.js'],
  ['a folder with a space', {}, "/opt/my box's/bin/signalbox.js", String.raw`/nodejs/bin/node '/opt/my box'\''s/bin/signalbox.js'`],
] as const)('commands are named as %s runs them', (_, env, script, command) => {
  expect(commandHere({ env, argv: ['/nodejs/bin/node', script, 'serve'], execPath: '/nodejs/bin/node' })).toBe(command)
})
