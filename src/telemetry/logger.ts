import { pino, type DestinationStream } from 'pino'
import type { Logger } from '../lib/logger.ts'
import { logOutput } from './log-output.ts'

const STANDARD_ERROR = 2

export interface LoggerOptions {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** `pretty`: one readable line for a terminal; `json`: one object per line for collectors. */
  readonly format: 'json' | 'pretty'
  readonly destination?: DestinationStream
}

// The form of credentials, in any text: bearer tokens, keys in URLs, our own keys and the common vendor forms.
const CREDENTIAL = /(bearer\s+|[?&](?:api[-_]?)?key=|\b(?:(?:sk|pk|rk|glc|xai|gsk)[-_]|AIza))[\w.~+/=-]{8,}/gi

/** Hides credentials in a text that goes to a log. */
function scrubLog(text: string): string {
  return text.replace(CREDENTIAL, '$1[redacted]')
}

/** The process's logger: pino, with errors reduced to name, message and stack, and credentials hidden in every line. */
export function createLogger(options: LoggerOptions): Logger {
  const destination = options.destination ?? logOutput(STANDARD_ERROR)
  const scrubbed: DestinationStream = {
    write: (line) => destination.write(`${oneLine(options.format === 'pretty' ? prettyLine(scrubLog(line)) : scrubLog(line).trimEnd())}\n`),
  }
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: pino.stdSerializers.err },
    },
    scrubbed,
  )
}

function prettyLine(line: string): string {
  const { level, time, msg, ...fields } = JSON.parse(line) as { level: string; time: string; msg: string; [field: string]: unknown }
  const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  return `${time.slice(11, 23)} ${level.toUpperCase().padEnd(5)} ${msg}${rest.join('')}`
}

const CONTROL = /[\p{Cc}\u2028\u2029]/gu

/** Log lines contain text of third parties, which must not be able to end the line or to control the terminal. */
function oneLine(text: string): string {
  return text.replace(CONTROL, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
