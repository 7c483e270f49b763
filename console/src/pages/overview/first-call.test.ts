import { expect, it } from 'vitest'
import { firstCall } from './first-call.ts'

it('the first call is one command for a shell', () => {
  expect(firstCall('http://127.0.0.1:8787', 'acme/small')).toBe(String.raw`curl -N http://127.0.0.1:8787/api/v1/responses \
  -H "Authorization: Bearer $SIGNALBOX_API_KEY" \
  -H 'Content-Type: application/json' \
  -d '{"model":"acme/small","input":"Hello, Signalbox!","stream":true}'`)
})

it('the name of a model cannot end the quotes', () => {
  expect(firstCall('http://gateway', "acme/o'hara")).toContain(String.raw`"acme/o'\''hara"`)
})
