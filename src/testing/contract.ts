import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'

/** The public contract, located beside the recordings; undefined if it does not exist. */
function contractDocument(): { readonly components: object } | undefined {
  const path = join(process.env['SIGNALBOX_FIXTURES'] ?? join(import.meta.dirname, '../../../shared/fixtures'), '../contract/openapi.json')
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as { readonly components: object }) : undefined
}

/** Throws with one sentence for a value that does not match the contract's schema of this name. Undefined if the contract does not exist. */
export function contractCheck(schema: string): ((value: unknown) => void) | undefined {
  const document = contractDocument()
  if (document === undefined) return undefined
  const ajv = new Ajv2020({ strict: false, validateFormats: false, discriminator: false })
  ajv.addSchema({ $id: 'contract', components: JSON.parse(JSON.stringify(document.components).replaceAll('"#/', '"contract#/')) as object })
  const validate = ajv.compile({ $ref: `contract#/components/schemas/${schema}` })
  return (value) => {
    if (!validate(value)) throw new Error(`not a ${schema}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`)
  }
}
