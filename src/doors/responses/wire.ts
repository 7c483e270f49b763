/** Why an answer failed, in the public terms. */
export interface Fault {
  readonly code: string
  readonly message: string
  readonly errorType: string
}

/** Both flat, as in the API's reference, and nested, as its vendor sends it: some clients read one form and some the other. */
function faultMembers({ code, message, errorType }: Fault): string {
  const body = { code, message, param: null }
  return JSON.stringify({ ...body, error: { type: errorType, ...body } }).slice(1, -1)
}

/**
 * Writes Responses events as server-sent events and owns `sequence_number`. Text collects until `take`, so that all events of one
 * upstream read leave in one write. A disabled writer (JSON answers) costs nothing.
 */
export class WireWriter {
  readonly enabled: boolean
  #sequence = 0
  #text = ''

  constructor(enabled: boolean) {
    this.enabled = enabled
  }

  /** `members` are the event's other members as JSON text, without braces, at least one. */
  event(type: string, members: string): void {
    if (!this.enabled) return
    this.#text += `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#sequence++},${members}}\n\n`
  }

  /** An event with no other members. */
  bare(type: string): void {
    this.#text += `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#sequence++}}\n\n`
  }

  /** The hot path: `head` comes from `deltaHead`, `value` is a JSON string literal, `tail` closes the object and the event. */
  delta(head: string, middle: string, value: string, tail: string): void {
    this.#text += head + this.#sequence++ + middle + value + tail
  }

  /** The last event; `fault` is first written in an `error` event of its own. */
  end(type: string, members: string, fault: Fault | undefined): void {
    if (fault !== undefined) this.event('error', faultMembers(fault))
    this.event(type, members)
    if (this.enabled) this.#text += 'data: [DONE]\n\n'
  }

  /** The text written since the previous call. */
  take(): string {
    const text = this.#text
    this.#text = ''
    return text
  }
}

/** The part of a delta event before its sequence number. */
export function deltaHead(type: string): string {
  return `event: ${type}\ndata: {"type":"${type}","sequence_number":`
}

/** A JSON string literal; `plain` text is known to need no escaping. */
export function quote(text: string, plain: boolean | undefined): string {
  return plain === true ? `"${text}"` : JSON.stringify(text)
}
