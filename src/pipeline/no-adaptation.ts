import type { Adaptation } from '../core/call.ts'

/** For callers who switched off the standing plugins, and for requests that have to arrive as they are. */
export const NO_ADAPTATION: Adaptation = { modalities: [], shortensUpTo: 0, adapt: (_call, request) => Promise.resolve(request) }
