import { existsSync, readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { OutgoingRequest } from '../core/destination.ts'
import { bodyText } from './request-text.ts'

/**
 * The bodies of a platform with a format of its own, as JSON Schemas written from its public documentation (`destinations/__schemas__`): a schema of the
 * body, or of each line; `$defs/row` is for rows that are sent as text in a binding.
 */
export function readPlatformSchema(type: string): { readonly problemsOf: (request: OutgoingRequest) => readonly string[] } | undefined {
  const file = new URL(`../destinations/__schemas__/${type}.json`, import.meta.url)
  if (!existsSync(file)) return undefined
  const schema = JSON.parse(readFileSync(file, 'utf8')) as { readonly $defs?: { readonly row?: object } }
  const ajv = new Ajv2020({ allErrors: true, strict: false })
  const check = ajv.compile(schema)
  const checkRow = schema.$defs?.row === undefined ? undefined : ajv.compile(schema.$defs.row)
  const complain = (validate: ValidateFunction, value: unknown): readonly string[] =>
    validate(value) ? [] : (validate.errors ?? []).map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`)
  return {
    problemsOf: (request) => {
      const text = bodyText(request)
      const values = text.endsWith('\n') ? text.trimEnd().split('\n') : [text]
      return values.flatMap((value) => {
        const body = JSON.parse(value) as { readonly bindings?: { readonly [number: string]: { readonly value: string } } }
        const rows = checkRow === undefined ? [] : Object.values(body.bindings ?? {}).flatMap((binding) => JSON.parse(binding.value) as unknown[])
        return [...complain(check, body), ...rows.flatMap((row) => complain(checkRow!, row))]
      })
    },
  }
}
