import { isObject } from '../shared/json.ts'

const STEP = /^(?:\.([^.[\]]+)|\[(\d{1,6})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\])/
const MAX_STEPS = 64
const MAX_INDEX = 10_000

type Container = { [key: string]: unknown } | unknown[]

/** The steps of a path such as `$.recipe.steps[9]['a.b']`; undefined if it is not a path. */
function parsePath(path: string): (string | number)[] | undefined {
  if (!path.startsWith('$')) return undefined
  const steps: (string | number)[] = []
  let rest = path.slice(1)
  while (rest !== '') {
    const match = STEP.exec(rest)
    if (match === null || steps.length >= MAX_STEPS) return undefined
    const [whole, name, index, single, double] = match
    if (index === undefined) steps.push(name ?? (single ?? double)!.replace(/\\(.)/g, '$1'))
    else if (Number(index) > MAX_INDEX) return undefined
    else steps.push(Number(index))
    rest = rest.slice(whole.length)
  }
  return steps.length > 0 ? steps : undefined
}

const hasOwn = (holder: Container, step: string | number): boolean => Object.hasOwn(holder, step)

/** Defined as an own property, because a member called `__proto__` is a member like any other. */
function put(holder: Container, step: string | number, value: unknown): void {
  Object.defineProperty(holder, step, { value, writable: true, enumerable: true, configurable: true })
}

/**
 * Arguments that arrive in pieces: each piece names a place in the object and its value, and strings may continue over several pieces. `add` returns
 * false for an invalid piece.
 */
export class PartialArguments {
  readonly #root: Container = {}
  /** Paths of strings that are announced to continue. */
  readonly #open = new Set<string>()

  add(piece: unknown): boolean {
    if (!isObject(piece) || typeof piece['jsonPath'] !== 'string') return false
    const path = piece['jsonPath']
    const steps = parsePath(path)
    if (steps === undefined) return false
    const holder = this.#holder(steps)
    if (holder === undefined) return false
    const last = steps[steps.length - 1]!
    if (Array.isArray(holder) !== (typeof last === 'number')) return false
    if (typeof piece['stringValue'] === 'string') {
      const before = hasOwn(holder, last) ? (holder as { [step: string | number]: unknown })[last] : undefined
      put(holder, last, (this.#open.has(path) && typeof before === 'string' ? before : '') + piece['stringValue'])
    } else put(holder, last, scalar(piece))
    if (piece['willContinue'] === true) this.#open.add(path)
    else this.#open.delete(path)
    return true
  }

  /** False while a string is announced to continue. */
  get complete(): boolean {
    return this.#open.size === 0
  }

  toJson(): string {
    return JSON.stringify(this.#root)
  }

  #holder(steps: readonly (string | number)[]): Container | undefined {
    let at: Container = this.#root
    for (let index = 0; index < steps.length - 1; index++) {
      const step = steps[index]!
      if (Array.isArray(at) !== (typeof step === 'number')) return undefined
      if (!hasOwn(at, step)) put(at, step, typeof steps[index + 1] === 'number' ? [] : {})
      const next: unknown = (at as { [step: string | number]: unknown })[step]
      if (typeof next !== 'object' || next === null) return undefined
      at = next as Container
    }
    return at
  }
}

function scalar(piece: { readonly [field: string]: unknown }): unknown {
  for (const field of ['numberValue', 'boolValue'] as const) if (piece[field] !== undefined) return piece[field]
  return null
}
