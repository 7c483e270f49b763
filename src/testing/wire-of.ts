import type { ModelEvent } from '../core/event.ts'
import type { ModelRequest } from '../core/request.ts'
import { Assembler } from '../doors/responses/assemble.ts'
import { manualClock, sequentialIds } from './deterministic.ts'

/** The public stream of a whole answer, as text. */
export function wireOf(events: readonly ModelEvent[], request: ModelRequest = { input: [] }): string {
  const clock = manualClock()
  const newId = sequentialIds()
  const facts = (): { model: string } => ({ model: 'acme/small' })
  const assembler = new Assembler({ id: 'gen-1', request, receivedAt: clock.now(), stream: true, clock, newId, facts })
  assembler.push(events)
  assembler.finish()
  return assembler.takeWire()
}
