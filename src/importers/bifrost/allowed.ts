import type { SourcePart } from '../shared/source-part.ts'

/** What a key without a list of models may request. This depends on the version in the file, because the default changed from every model to none. */
export type Unlisted = 'anything' | 'nothing' | 'unsaid'

export const unlistedOf = (version: unknown): Unlisted => (version === 1 ? 'anything' : version === 2 ? 'nothing' : 'unsaid')

/** A model's id at the server, if it differs from the name in requests. */
export interface Alias {
  readonly part: SourcePart
  readonly id: string
  /** The model that it is, if the id does not say so. */
  readonly known: string
}

export interface Allowed {
  /** If undefined, all models are allowed. */
  readonly models: readonly string[] | undefined
  readonly isDenied: (model: string) => boolean
}

const UNSAID = 'lists no models and is taken for any, as it was before version 1.5; since then it stands for none, unless the file has version 1'

/** Undefined if the key allows no model, which is then noted. `single` is the only model of a server that has one. */
export function allowedOf(key: SourcePart, unlisted: Unlisted, single: string | undefined): Allowed | undefined {
  const models = key.at('models')
  if (single !== undefined) {
    if (models.exists) models.note('fine', `its server has one model, ${JSON.stringify(single)}`)
    return { models: [single], isDenied: () => false }
  }
  const listed = models.exists ? models.texts() : []
  const denied = key.at('blacklisted_models').value
  const isDenied = (model: string): boolean => Array.isArray(denied) && (denied.includes(model) || denied.includes('*'))
  if (listed.includes('*')) return { models: undefined, isDenied }
  if (listed.length > 0) return { models: listed.filter((model) => !isDenied(model)), isDenied }
  if (unlisted === 'nothing') models.note('fine', 'lists no models, and so it is asked for none')
  else if (unlisted === 'unsaid') models.note('do', UNSAID)
  return unlisted === 'nothing' ? undefined : { models: undefined, isDenied }
}

/** Settings of an alias that point to another place than its key does. */
const ELSEWHERE = ['endpoint', 'region', 'project_id'] as const

export function aliasOf(part: SourcePart): Alias {
  if (!part.isMapping) {
    const id = part.text() ?? part.key
    return { part, id, known: part.key }
  }
  for (const member of ELSEWHERE.map((name) => part.at(name)))
    if (member.exists)
      member.note('do', 'is not carried: it is asked where its key is; another place is a provider of its own, with an endpoint of the model')
  const name = part.at('model_name')
  return { part, id: part.at('model_id').text() ?? part.key, known: (name.exists ? name.text() : undefined) ?? part.key }
}
