import { z } from 'zod'
import type { ServerTool } from '../core/extension.ts'

const settings = z.object({ timezone: z.string().optional() })
const parameters = z.object({
  timezone: z.string().optional().describe('IANA name of a time zone, such as Europe/Zurich. Leave it out for the default of this conversation.'),
})

type Settings = z.infer<typeof settings>
type Arguments = z.infer<typeof parameters>

/** The current date and time, in the zone that the model asks for, or else the caller's, or else UTC. */
export const datetime: ServerTool<Settings, Arguments> = {
  name: 'datetime',
  description: 'Tells the current date and time. Use it whenever an answer depends on what day or time it is.',
  settings,
  parameters,
  timeoutMs: 1_000,
  begin: (args, { settings: { timezone }, call }) => timeIn([args?.timezone, timezone], call.clock.now()),
  execute: async (args, { settings: { timezone }, call }) => {
    const time = timeIn([args.timezone, timezone], call.clock.now())
    const known = args.timezone === undefined || isTimeZone(args.timezone)
    const output = known ? time : { ...time, note: `${args.timezone?.slice(0, 60)} is not a time zone; this is ${time.timezone}` }
    return { output: JSON.stringify(output), item: time }
  },
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** ISO 8601 with the zone's offset, in the first zone of the list that exists. */
function timeIn(zones: readonly (string | undefined)[], now: number): { readonly datetime: string; readonly timezone: string } {
  const timezone = zones.find((zone): zone is string => zone !== undefined && isTimeZone(zone)) ?? 'UTC'
  const minutes = offsetMinutes(now, timezone)
  const local = new Date(now + minutes * 60_000).toISOString().slice(0, -1)
  const absolute = Math.abs(minutes)
  const offset =
    minutes === 0 ? 'Z' : `${minutes < 0 ? '-' : '+'}${String(Math.floor(absolute / 60)).padStart(2, '0')}:${String(absolute % 60).padStart(2, '0')}`
  return { datetime: local + offset, timezone }
}

function offsetMinutes(now: number, timeZone: string): number {
  const name =
    new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }).formatToParts(now).find(({ type }) => type === 'timeZoneName')?.value ??
    'GMT'
  const [, sign, hours, minutes] = /GMT([+-])(\d{2}):(\d{2})/.exec(name) ?? []
  return sign === undefined ? 0 : (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}
