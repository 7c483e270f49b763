/**
 * What the gateway owes its callers, by an id that tests cite. P: pains reported of gateways like it. F: faults of providers, as a public
 * fault lab plays them. S: what the first request, all the way, has to show. An id stands here once a test verifies it.
 */
export const REQUIREMENTS = {
  P9: 'A caller who leaves is gone for the upstream, too, within 100 ms, in every phase of a call, streamed or not.',
  P10: 'After aborted calls no socket, timer, listener or call is left behind.',
  P11: 'A silent upstream is given up by separate limits for connecting, for the first token, for idleness and for the whole.',
  P12: 'A stream ends with a terminal event; an upstream that ends without one has failed.',
  P13: 'A transport failure before the first content is an HTTP error, never a 200.',
  P15: 'A stream that is cut, stalls or turns to garbage before its first content is served by another endpoint.',
  P16: 'What counts as success is the first content, not the status code.',
  P17: 'One malformed frame is skipped; the rest of the stream is served.',
  P18: 'Text, reasoning and parallel calls of one turn arrive whole, and the deltas of a stream add up to the final answer.',
  P19: 'Terminal information of the upstream reaches the caller, the reason of a cut included.',
  P20: 'Streams are not buffered: what the upstream sends is passed on within 50 ms, and the stream closes within 100 ms of its end.',
  P21: 'An error inside a successful status is a typed failure, and an empty success is one, too.',
  P22: 'A validation error names one path and one reason in less than a kilobyte.',
  P23: 'Tool and item types nobody knows are carried; requests in the shape of coding agents are served.',
  P28: 'Bodies up to the documented limit work; beyond it the answer is 413.',
  P34: 'Credentials of the gateway appear in no answer.',
  P35: 'Every call leaves one record: finished, failed or aborted.',
  P42: 'By default a connection error or a 5xx is retried once on the same endpoint, then on all others.',
  P44: 'Answers hold only what strict clients accept: their schemas find nothing unknown.',
  P47: 'A silent endpoint is not asked twice.',
  P50: 'An error says whether the gateway or the provider is at fault.',

  F1: 'A 429 with a hint is waited out or passed by.',
  F2: 'A 429 without a hint is backed off from, a few times at most, and passed by.',
  F3: 'A single 500 is made good by one retry on the same endpoint.',
  F4: 'A persistent 503 moves the call to another endpoint; with nowhere to go, the caller gets it back.',
  F5: 'A reset before the headers moves the call to another endpoint.',
  F6: 'A request that is accepted and never answered costs one limit and no second try.',
  F7: 'Headers without a token in time move the call to another endpoint.',
  F8: 'A stream that dies half-way is a clear failure, never a short success.',
  F9: 'A stream that falls silent half-way is noticed in bounded time.',
  F10: 'A stream with one event that is not JSON finishes.',
  F11: 'A stream without an end mark finishes at once, usage included.',
  F12: 'A context that is too long is tried once on its model, then on the next model.',
  F13: 'A content policy violation is tried once, and its reason reaches the caller.',
  F14: 'A stream that dies half-way before a fallback without assistant prefill: the caller never sees an error about prefill.',
  F15: 'An endpoint that is down is left alone, probed, and back within 30 s of its recovery.',
  F16: 'An answer of the fallback names the model that gave it and has usage; failed tries cost nothing.',

  'S2-aborts': '10,000 aborted streams leave no socket, timer or listener behind.',
  'S2-bad-input': 'Every kind of bad input gets the right status and one clear sentence.',
  'S2-clients': 'Clients in use everywhere work under their default settings: text, tools, structured output, images, refusals, errors.',
  'S2-kill': 'An upstream killed after every single event leaves an error or a terminal event, and a record.',
  'S2-open-responses': 'The named cases of the public Open Responses suite pass.',
  'S2-recordings': 'Every recording passes through every client: no throw, no lost event, the same in a stream and in JSON.',
} as const satisfies { readonly [id: string]: string }

export type RequirementId = keyof typeof REQUIREMENTS

/** The title of a test (or a group of tests) that verifies requirements: `it(verifies('P12', 'ends in-band'), ...)`. */
export function verifies(...args: readonly [RequirementId, ...RequirementId[], string]): string {
  const ids = args.slice(0, -1)
  return `${args.at(-1)} (${ids.join(', ')})`
}
