import { z } from 'zod'
import { earlierSecretsOf } from '../core/api-key.ts'
import { createKeyAccounts } from '../accounts/keys.ts'
import { migrateExisting, openExistingStore } from '../wiring/boot.ts'
import { loadConfig } from '../config/load.ts'
import type { KeyAccounts, KeyChange } from '../core/account.ts'
import { GatewayError } from '../core/error.ts'
import type { KeyUse } from '../core/key-use.ts'
import { creditLimitOf, MAX_AMOUNT_USD, resetOf } from '../core/limit-settings.ts'
import type { ApiKey, WorkspaceStore } from '../core/store.ts'
import { systemClock } from '../lib/clock.ts'
import { defined } from '../lib/defined.ts'
import { parseDuration } from '../lib/units.ts'
import type { Overrides } from './overrides.ts'
import type { CreateKeyOptions, ListKeysOptions, RotateKeyOptions, UpdateKeyOptions } from './program.ts'
import { storeOptions } from './serve.ts'
import { table } from './table.ts'

/** Works directly on the database, so it can run beside a gateway, which sees the change within seconds. */
async function withAccounts(overrides: Overrides, use: (accounts: KeyAccounts, workspaces: WorkspaceStore) => Promise<void>): Promise<void> {
  const store = await openExistingStore(await loadConfig(storeOptions(overrides)))
  try {
    await migrateExisting(store)
    await store.workspaces.default()
    await use(createKeyAccounts({ store, clock: systemClock }), store.workspaces)
  } finally {
    await store.close()
  }
}

export async function createKey(options: CreateKeyOptions, overrides: Overrides): Promise<void> {
  const expiresAt = options.expires === undefined ? null : parseDate(options.expires)
  await withAccounts(overrides, async (accounts, workspaces) => {
    const { key, secret } = await accounts.create({
      name: options.name,
      kind: options.management ? 'management' : 'inference',
      expiresAt,
      ...(options.workspace === undefined ? {} : { workspaceId: await workspaceId(workspaces, options.workspace) }),
    })
    process.stdout.write(`${secret.reveal()}\n`)
    process.stderr.write(`Shown this once. ${key.kind} key "${key.name}", hash ${key.hash}\n`)
  })
}

/** With the API's bounds. `Number` would also read hexadecimal digits and nothing at all. */
const AMOUNT = z
  .string()
  .regex(/^\d{1,10}(\.\d{1,12})?$/)
  .transform(Number)
  .pipe(z.number().max(MAX_AMOUNT_USD))

/** An existing date, or a time on one. `Date.parse` would take February 31 for March 3, and a lone number for a month. */
const EXPIRES = z.union([z.iso.date(), z.iso.datetime({ offset: true, local: true })])

const ZONE = /(Z|[+-]\d\d:?\d\d)$/

/** A time without a zone is UTC, as dates and all times that are shown: the zone of the machine that runs the command is not the gateway's. */
function parseDate(text: string): number {
  const { data } = EXPIRES.safeParse(text.trim().replace(/(T\d\d:\d\d)(?=Z|[+-]|$)/, '$1:00'))
  if (data === undefined)
    throw new GatewayError(
      'invalid_request',
      `--expires ${text}: a date of the calendar in ISO 8601 is expected, such as 2030-01-31 or 2030-01-31T12:00:00Z`,
    )
  return Date.parse(data.includes('T') && !ZONE.test(data) ? `${data}Z` : data)
}

async function workspaceId(workspaces: WorkspaceStore, reference: string): Promise<string> {
  const found = (await workspaces.get(reference)) ?? (await workspaces.list()).find(({ slug }) => slug === reference)
  if (found === undefined) throw new GatewayError('not_found', `There is no workspace with the id or slug ${reference}`)
  return found.id
}

export async function listKeys({ unusedFor }: ListKeysOptions, overrides: Overrides): Promise<void> {
  const now = systemClock.now()
  const unusedSince = unusedFor === undefined ? undefined : now - durationOf('--unused-for', unusedFor)
  await withAccounts(overrides, async (accounts) => {
    const keys = await accounts.list({ includeRevoked: unusedSince === undefined })
    const uses = Map.groupBy(await accounts.usesOf(keys.map(({ hash }) => hash)), ({ keyHash }) => keyHash)
    const rows = keys
      .map((key) => ({ key, uses: uses.get(key.hash) ?? [] }))
      .filter((one) => unusedSince === undefined || Math.max(one.key.createdAt, lastOf(one.uses) ?? 0) < unusedSince)
      .flatMap((one) => rowsOf(one.key, one.uses, now))
    const head = ['LABEL', 'KIND', 'STATE', 'CREATED', 'EXPIRES', 'LAST USED', 'HASH', 'NAME']
    process.stdout.write(table([head, ...rows]))
  })
}

/** The key, and each earlier secret that still works. */
function rowsOf(key: ApiKey, uses: readonly KeyUse[], now: number): readonly (readonly string[])[] {
  const row = (label: string, state: string, expiresAt: number | null, of: readonly KeyUse[]): readonly string[] => [
    label,
    key.kind,
    state,
    minute(key.createdAt),
    minuteOrNever(expiresAt),
    minuteOrNever(lastOf(of)),
    key.hash.slice(0, 12),
    key.name,
  ]
  const state = stateOf(key, now)
  const earlier = state === 'active' ? earlierSecretsOf(key, now) : []
  return [
    row(key.label, state, key.expiresAt, uses),
    ...earlier.map(({ hash, label, endsAt }) =>
      row(
        label,
        'replaced',
        endsAt,
        uses.filter(({ secretHash }) => secretHash === hash),
      ),
    ),
  ]
}

const lastOf = (uses: readonly KeyUse[]): number | undefined => (uses.length === 0 ? undefined : Math.max(...uses.map(({ at }) => at)))

function durationOf(option: string, text: string): number {
  const duration = parseDuration(text)
  if (duration === undefined) throw new GatewayError('invalid_request', `${option} ${text}: a duration is expected, such as 90d or 12h`)
  return duration
}

const minute = (at: number): string => `${new Date(at).toISOString().slice(0, 16)}Z`
const minuteOrNever = (at: number | null | undefined): string => (at == null ? 'never' : minute(at))

/** `active`, or why the gateway refuses the key. */
function stateOf({ revokedAt, disabled, expiresAt }: ApiKey, now: number): string {
  if (revokedAt !== null) return 'revoked'
  if (disabled) return 'disabled'
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'active'
}

export async function updateKey(reference: string, options: UpdateKeyOptions, overrides: Overrides): Promise<void> {
  const change = changeIn(options)
  await withAccounts(overrides, async (accounts) => {
    const before = await accounts.find(reference)
    if (before.kind === 'management' && change.settings !== undefined)
      throw new GatewayError('invalid_request', `"${before.name}" is a management key: it makes no calls, so it has no limit`)
    const key = await accounts.update(before.hash, change)
    const limit = creditLimitOf(key)
    const reset = resetOf(key)
    const parts = [
      `${key.kind} key "${key.name}" (${key.label})`,
      stateOf(key, systemClock.now()),
      `expires: ${minuteOrNever(key.expiresAt)}`,
      ...(key.kind === 'management' ? [] : [`limit: ${limit === undefined ? 'none' : `${limit} USD${reset === 'lifetime' ? '' : `, ${reset}`}`}`]),
    ]
    process.stdout.write(`Changed: ${parts.join('; ')}. A running gateway follows within 5 seconds.\n`)
  })
}

function changeIn({ name, disable, enable, limit, reset, expires }: UpdateKeyOptions): KeyChange {
  const settings = defined({
    limit: limit === undefined ? undefined : amountOrNone(limit),
    limit_reset: reset === 'never' ? null : reset,
  })
  const change = defined({
    name,
    disabled: disable === true ? true : enable === true ? false : undefined,
    expiresAt: expires === undefined ? undefined : expires.trim() === 'never' ? null : parseDate(expires),
    settings: Object.keys(settings).length === 0 ? undefined : settings,
  })
  if (Object.keys(change).length === 0)
    throw new GatewayError('invalid_request', 'Nothing to change: name what, such as --limit 20 or --disable (signalbox keys update --help)')
  return change
}

function amountOrNone(text: string): number | null {
  if (text.trim() === 'none') return null
  const { data } = AMOUNT.safeParse(text.trim())
  if (data === undefined) throw new GatewayError('invalid_request', `--limit ${text}: an amount in USD is expected, such as 20 or 0.5, or none`)
  return data
}

export async function rotateKey(reference: string, { grace }: RotateKeyOptions, overrides: Overrides): Promise<void> {
  const graceMs = durationOf('--grace', grace)
  await withAccounts(overrides, async (accounts) => {
    const { key, secret } = await accounts.rotate((await accounts.find(reference)).hash, graceMs)
    const [earlier] = earlierSecretsOf(key, systemClock.now()).slice(-1)
    process.stdout.write(`${secret.reveal()}\n`)
    process.stderr.write(
      `Shown this once. New secret of ${key.kind} key "${key.name}", hash ${key.hash}. ${
        earlier === undefined
          ? 'A running gateway refuses earlier ones within 5 seconds.'
          : `Earlier ones work until ${minute(earlier.endsAt!)}; signalbox keys end-grace ends them before.`
      }\n`,
    )
  })
}

export async function endGrace(reference: string, overrides: Overrides): Promise<void> {
  await withAccounts(overrides, async (accounts) => {
    const key = await accounts.endGrace((await accounts.find(reference)).hash)
    process.stdout.write(
      `Only the newest secret of ${key.kind} key "${key.name}" (${key.label}) works. A running gateway refuses others within 5 seconds.\n`,
    )
  })
}

export async function revokeKey(reference: string, overrides: Overrides): Promise<void> {
  await withAccounts(overrides, async (accounts) => {
    const key = await accounts.revoke((await accounts.find(reference)).hash)
    process.stdout.write(`Revoked ${key.kind} key "${key.name}" (${key.label}). A running gateway refuses it within 5 seconds.\n`)
  })
}
