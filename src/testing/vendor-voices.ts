import type { Reply } from './fake-upstream.ts'
import { chat } from './voices/chat-completions.ts'
import { cohere } from './voices/cohere.ts'
import { converse } from './voices/converse.ts'
import { gemini } from './voices/generate-content.ts'
import { messages } from './voices/messages.ts'
import { responses } from './voices/responses.ts'
import type { ScriptedAnswer, SeenTurn, VendorVoice } from './voices/voice.ts'

/** Every vendor's format, by dialect. All report 30 input tokens, 10 of them cached, and 12 output tokens. */
export const VENDOR_VOICES: ReadonlyMap<string, VendorVoice> = new Map(
  [chat, responses, messages, gemini, converse, cohere].map((voice) => [voice.dialect, voice]),
)

/** All results must directly follow their calls, in order; the user speaks first. Throws an Error that names the first violation. */
export function checkTurns(turns: readonly SeenTurn[]): void {
  let open: string[] = []
  turns.forEach(({ role, calls, results }, at) => {
    const fail = (what: string): never => {
      throw new Error(`turn ${at} (${role}): ${what}\n${JSON.stringify(turns)}`)
    }
    if (at === 0 && role !== 'user') fail('the conversation does not begin with the user')
    for (const result of results) if (open.shift() !== result) fail(`the result ${result} does not follow its call`)
    if (results.length === 0 && open.length > 0) fail(`the calls ${open.join(', ')} have no results`)
    if (calls.length > 0) open = [...calls]
  })
  if (open.length > 0) throw new Error(`the calls ${open.join(', ')} have no results\n${JSON.stringify(turns)}`)
}

/** An upstream in a vendor's format that answers with what `next` returns, if the turns it was sent are a valid conversation. */
export const speakerOf =
  (voice: VendorVoice, next: () => ScriptedAnswer): Reply =>
  (request, response) => {
    checkTurns(voice.turns(request.body))
    response.writeHead(200, { 'content-type': voice.contentType })
    for (const frame of voice.stream(next())) response.write(frame)
    response.end()
  }
