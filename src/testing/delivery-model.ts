import { createHash } from 'node:crypto'
import type { Generation } from '../core/generation.ts'
import type { DeadLetter, DeliveryStatus } from '../core/outbox.ts'
import { SPOKEN, type World, type WorldDestination } from './delivery-world.ts'

/** A second implementation of the rules of deliveries, compared with what platforms received. Each check returns its findings as sentences. */

export interface ModelOptions {
  /** Repetitions after an acknowledgement are acceptable: a clock jumped, or a store failed. */
  readonly twice?: boolean
}

/** Whether a generation should go to a destination. */
export function wants({ id, record, deletedAt }: WorldDestination, generation: Generation): boolean {
  if (deletedAt < Infinity || !record.enabled) return false
  if (record.apiKeyHashes !== null && !record.apiKeyHashes.includes(generation.keyHash)) return false
  for (const { logic = 'and', rules } of record.filterRules?.groups ?? []) {
    const holds = rules.map(({ field, operator, value }) => {
      if (field === 'model' && operator === 'equals') return generation.model === value
      if (field === 'input' && operator === 'contains') return String(value) === SPOKEN
      return generation.usage.totalTokens > Number(value)
    })
    if (!(logic === 'and' ? holds.every(Boolean) : holds.some(Boolean))) return false
  }
  const trace = generation.trace?.['trace_id']
  const key = generation.sessionId ?? (typeof trace === 'string' ? trace : generation.id)
  const top = createHash('sha256').update(`${id}\0${key}`).digest('hex').slice(0, 13)
  return Number.parseInt(top, 16) / 2 ** 52 < record.samplingRate
}

/** The final checks, once everything has had enough time. */
export async function faultsOf(world: World, options: ModelOptions): Promise<readonly string[]> {
  const faults: string[] = []
  for (const destination of world.destinations) {
    const status = await world.outbox.status(destination.id)
    const { letters } = await world.outbox.deadLetters(destination.id, { offset: 0, limit: 10_000 })
    const found = [
      ...wrongArrivals(destination),
      ...(options.twice === true ? [] : earlyArrivals(destination)),
      ...(destination.deletedAt < Infinity ? leftOfDeleted(status) : wrongFates(destination, letters, options)),
      ...(destination.deletedAt < Infinity ? [] : wrongCounts(world, destination, status, letters, options)),
      ...toldSecrets(destination, JSON.stringify([status, letters, world.events])),
    ]
    faults.push(...found.map((fault) => `${destination.id} (${destination.record.type}): ${fault}`))
  }
  return faults
}

function* wrongArrivals({ platform, owed, off, deletedAt, privateFrom }: WorldDestination): Generator<string> {
  for (const { ids, at, text } of platform.arrivals) {
    for (const id of ids) if (!owed.has(id)) yield `${id} is not meant for it`
    if (at > deletedAt) yield `sent at ${at}, deleted at ${deletedAt}`
    if (off.some(({ from, to }) => at > from && at < to)) yield `sent at ${at}, while it was switched off`
    if (at > privateFrom && text.includes(SPOKEN)) yield `content sent at ${at}, private from ${privateFrom}`
  }
}

/** A worker must obey the retry time that it was given, unless the destination changes meanwhile. */
function* earlyArrivals({ platform, changes }: WorldDestination): Generator<string> {
  for (const [i, { retryAfterMs, endedAt, sender }] of platform.arrivals.entries()) {
    const until = endedAt + (retryAfterMs ?? 0)
    const early = platform.arrivals.slice(i).find((later) => later.sender === sender && later.at > endedAt && later.at < until)
    if (early !== undefined && !changes.some((at) => at >= endedAt && at <= early.at)) yield `sent at ${early.at}, told to wait until ${until}`
  }
}

function* wrongFates({ platform, owed }: WorldDestination, letters: readonly DeadLetter[], { twice = false }: ModelOptions): Generator<string> {
  const dead = new Map(letters.map((letter) => [letter.generationId, letter]))
  const kept = new Map<string, { times: number; told: number }>()
  for (const arrival of platform.arrivals)
    for (const id of arrival.kept) {
      const { times, told } = kept.get(id) ?? { times: 0, told: 0 }
      kept.set(id, { times: times + 1, told: told + (arrival.told ? 1 : 0) })
    }
  for (const id of owed) {
    const { times, told } = kept.get(id) ?? { times: 0, told: 0 }
    const letter = dead.get(id)
    if (times === 0 && letter === undefined) yield `${id} never arrived`
    if (told > 1 && !twice) yield `${id} arrived again after it had been accepted`
    if (letter !== undefined) yield* wrongLetter(letter, platform.poison.get(id), twice)
  }
}

function* wrongLetter({ generationId, reason, status, error }: DeadLetter, poison: number | undefined, twice: boolean): Generator<string> {
  const expected = poison === 413 ? 'too-large' : 'rejected'
  // Ages jump with the clock.
  if (twice && reason === 'expired') return
  // Refused individually in an accepted batch.
  if (poison !== undefined && status === 200 && reason === 'rejected') return
  if (poison !== status || reason !== expected || error === '') yield `${generationId} was given up: ${reason}, ${status}, ${error}`
}

function* wrongCounts(
  world: World,
  { id, platform, owed }: WorldDestination,
  status: DeliveryStatus,
  letters: readonly DeadLetter[],
  { twice = false }: ModelOptions,
): Generator<string> {
  const arrived = owed.size - letters.length
  const said = JSON.stringify(status)
  if (status.queued > 0 || status.queuedBytes !== 0 || status.dead !== letters.length) yield `left over: ${said}`
  if (status.delivered + status.rejected !== arrived) yield `${arrived} arrived: ${said}`
  if (twice) return
  const refused = platform.arrivals.reduce((sum, arrival) => sum + (arrival.told ? arrival.rejected : 0), 0)
  if (status.rejected !== refused) yield `${refused} were refused: ${said}`
  const batches = world.events.flatMap((event) => (event.kind === 'batch' && event.destinationId === id ? [event.counts] : []))
  const told = batches.reduce((sum, counts) => sum + counts.delivered, 0)
  if (told !== arrived) yield `${arrived} arrived, metrics count ${told}`
}

const leftOfDeleted = ({ queued, dead }: DeliveryStatus): readonly string[] =>
  queued + dead === 0 ? [] : [`${queued} queued and ${dead} dead of what is deleted`]

/** In any form in which a platform may quote it. */
const toldSecrets = ({ secrets }: WorldDestination, text: string): readonly string[] =>
  secrets.some((secret) => [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')].some((form) => text.includes(form)))
    ? ['its secret is told']
    : []
