import type { ConfigProblem } from '../core/config-error.ts'
import { isSecretPlace } from './explain.ts'

export type Env = { readonly [name: string]: string | undefined }

const REFERENCE = /\$(\$|)\{([^}]*)(\}?)/g
const FORMS = 'expected ${NAME} or ${NAME:-default}, or $${ for a literal ${'
const NAME = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s

/** Many keys could be names of variables, but names are words. */
const RANDOM = /(?=[A-Za-z]*\d)[A-Za-z0-9]{16}/
const holdsSecret = (path: string): boolean => isSecretPlace(path.split(/[.[\]]+/).filter((step) => step !== ''))

/**
 * Replaces `${NAME}` and `${NAME:-default}` in every string of a parsed document; `$${` stays a literal `${`. A problem is reported for an unset or
 * empty variable without a default, and for a reference that is not closed or contains another, except inside a provider that is switched off.
 */
export function substituteEnv(tree: unknown, env: Env, problems: ConfigProblem[]): unknown {
  if (!isMapping(tree)) return substitute(tree, env, '', problems)
  const { providers, ...rest } = tree
  const result = substitute(rest, env, '', problems)
  if (!('providers' in tree)) return result
  if (!Array.isArray(providers)) return { ...(result as object), providers }
  const replaced = providers.map((entry: unknown, index) => {
    const path = `providers[${index}]`
    const off = isMapping(entry) && ['false', false].includes(substitute(entry['enabled'], env, '', []) as string | boolean)
    return substitute(off ? { ...(withoutUnset(entry, env) as object), slug: entry['slug'] } : entry, env, path, problems)
  })
  return { ...(result as object), providers: replaced }
}

function substitute(value: unknown, env: Env, path: string, problems: ConfigProblem[]): unknown {
  if (typeof value === 'string') return substituteText(value, env, path, problems)
  if (Array.isArray(value)) return value.map((item, index) => substitute(item, env, `${path}[${index}]`, problems))
  if (!isMapping(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, substitute(item, env, path === '' ? key : `${path}.${key}`, problems)]))
}

/** The tree without members whose variables are not set. For a provider that is switched off: `${URL}` would be no valid address, number or duration. */
function withoutUnset(value: unknown, env: Env): unknown {
  if (Array.isArray(value)) return value.filter((item) => isSet(item, env)).map((item) => withoutUnset(item, env))
  if (!isMapping(value)) return value
  const kept = Object.entries(value).filter(([, item]) => isSet(item, env))
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutUnset(item, env)]))
}

function isSet(value: unknown, env: Env): boolean {
  const problems: ConfigProblem[] = []
  if (typeof value === 'string') substituteText(value, env, '', problems)
  return problems.length === 0
}

function substituteText(value: string, env: Env, path: string, problems: ConfigProblem[]): string {
  return value.replace(REFERENCE, (reference, escaped: string, inside: string, end: string) => {
    if (escaped !== '') return reference.slice(1)
    // Such a reference would not be replaced, or only in part, and the remains would be used as the value.
    if (end === '' || inside.includes('${')) {
      problems.push({ path, message: `a reference ${end === '' ? 'is not closed' : 'stands inside another'}; ${FORMS}` })
      return reference
    }
    const [, name, fallback] = NAME.exec(inside) ?? []
    if (name === undefined) {
      // A template that was filled in here leaves the secret itself.
      const what = holdsSecret(path) ? 'a reference does not hold the name of a variable' : `${JSON.stringify(reference)} is no reference`
      problems.push({ path, message: `${what}; ${FORMS}` })
      return reference
    }
    const found = env[name]
    if (found !== undefined && found !== '') return found
    if (fallback !== undefined) return fallback
    const hides = RANDOM.test(name) && holdsSecret(path)
    const what = `a reference holds what is no variable that is set, and looks like a secret; ${FORMS}`
    problems.push({ path, message: hides ? what : `the environment variable ${name} is not set; set it, or write \${${name}:-default}` })
    return reference
  })
}

export function isMapping(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
