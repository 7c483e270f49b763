import { FAULTS } from './fault-list.ts'

/**
 * What the gateway guarantees to its callers, by an id that tests cite. A to K: faults and attacks (fault-list.ts). P: problems reported about similar
 * gateways. S: what the first request has to show, end to end. Each id has a test, or `WITHOUT_TEST` explains why not and what is planned.
 */
export const REQUIREMENTS = {
  ...FAULTS,

  P1: 'Memory is flat over a day at half load; every cache is bounded in entries and bytes.',
  P2: 'Retention never loads rows: it deletes old data by statement or partition, in bounded batches.',
  P3: 'Texts of calls are stored only if a workspace asks for it, apart from the records, and no list reads them.',
  P4: 'Every table has an owner, a retention, and deletes that reach its children.',
  P5: 'A record holds the prices it used, not the price list.',
  P6: 'An unavailable database never turns a good key into a 401, and the gateway recovers by itself.',
  P7: 'The gateway serves within a second of its start; migrations run once, whoever starts first.',
  P8: 'Media is never inspected byte by byte: large inputs cost little more than their transport.',
  P9: 'A caller who leaves is disconnected from the upstream within 100 ms, in every phase of a call, streamed or not.',
  P10: 'After aborted calls no socket, timer, listener or call remains.',
  P11: 'A silent upstream is given up after separate limits for the connection, the first token, silence and the whole attempt.',
  P12: 'A stream ends with a terminal event; an upstream that ends without one has failed.',
  P13: 'A transport failure before the first content is an HTTP error, never a 200.',
  P14: 'The first-token limit ends with the first token: it does not cut off a healthy long stream.',
  P15: 'A stream that is cut, stalls or turns to garbage before its first content is served by another endpoint.',
  P16: 'What counts as success is the first content, not the status code.',
  P17: 'One malformed frame is skipped; the rest of the stream is served.',
  P18: 'Text, reasoning and parallel calls of one turn arrive complete, and the deltas of a stream add up to the final answer.',
  P19: 'The upstream’s final information reaches the caller, including the reason why an answer was cut off.',
  P20: 'Streams are not buffered: what the upstream sends is passed on within 50 ms, and the stream closes within 100 ms of its end.',
  P21: 'An error inside a successful status is a typed failure, and an empty success is one, too.',
  P22: 'A validation error names one path and one reason in less than a kilobyte.',
  P23: 'Unknown types of tools and items are passed on; requests as coding agents send them are served.',
  P24: 'A session pin lives as long as the provider’s cache, is renewed by use, and is visible in the metadata.',
  P25: 'Without a session id a conversation is recognised by its first messages, and stays where its cache is.',
  P26: 'Reasoning returns only to the vendor that created it; elsewhere it is left out, and the answer says so.',
  P27: 'A request can be explained without sending it, and a configured fallback that cannot be reached is named.',
  P28: 'Bodies up to the documented limit work; beyond it the answer is 413.',
  P29: 'Spending is reserved before a call and settled after it; the bound of an overshoot is stated.',
  P30: 'Reservations are atomic: parallel calls cannot exceed a budget together.',
  P31: 'Every attempt is checked against budgets and policies again.',
  P32: 'Usage has one normal form whose parts add up, in every dialect; a cost that the provider reports is preferred, and a report compares the sums with invoices.',
  P33: 'Cost belongs to the attempt that served: its model, its provider, its prices; if several contributed to an answer, each has its own.',
  P34: 'Credentials of the gateway appear in no answer.',
  P35: 'Every call leaves one record: finished, failed or aborted.',
  P36: 'The partial answer of a failed stream is kept, with its usage, under its status.',
  P37: 'It runs without any other service.',
  P38: 'A public address without fixed secrets is refused; nothing a caller sends makes the gateway start a program.',
  P39: 'Changes affect only what they name; the effect of another configuration file can be shown beforehand.',
  P40: 'Silent streams carry comments from the start, so that no proxy cuts them.',
  P41: 'A caller can ask for keep-alives that carry data.',
  P42: 'By default a connection error or a 5xx is retried once on the same endpoint, then on all others.',
  P43: 'Answers in one piece are streamed from the provider and collected.',
  P44: 'Answers hold only what strict clients accept: their schemas find nothing unknown.',
  P45: 'It starts on a clean machine and contacts nobody.',
  P46: 'A tool loop ends: by steps, cost, time or repetition, with one last turn and a reason.',
  P47: 'A silent endpoint is not asked twice.',
  P48: 'An endpoint that failed is avoided for a while by all processes, and probed.',
  P49: 'Listeners, bodies and sockets of an attempt end with the attempt.',
  P50: 'An error says whether the gateway or the provider is at fault.',

  'S2-aborts': '10,000 aborted streams leave no socket, timer or listener behind.',
  'S2-bad-input': 'Every kind of bad input gets the right status and one clear sentence.',
  'S2-clients': 'Clients in use everywhere work under their default settings: text, tools, structured output, images, refusals, errors.',
  'S2-kill': 'An upstream killed after every single event leaves an error or a terminal event, and a record.',
  'S2-open-responses': 'The named cases of the public Open Responses suite pass.',
  'S2-recordings': 'Every recording passes through every client: no throw, no lost event, the same in a stream and in JSON.',

  'S5-costs': 'Cost is the vendor’s own figure where a recording carries one.',
  'S5-matrix': 'One conversation with reasoning, parallel tools and an image moves from each vendor to each other at every turn.',
  'S5-scope': 'Reasoning reaches only the vendor and the account that minted it.',
  'S7-kill': 'kill -9 of one of three processes under load: no other process fails a request, and its deliveries are finished by the others.',
  'S7-outage': 'Without database and without Redis, at the start or in the middle, no inference fails, and readyz says so.',
  'S7-overload': 'Too many calls are refused with 503 and a hint, those of the key that floods first.',
  'S7-revocation': 'A changed key is in force in every process within five seconds.',
  'S7-rolling': 'Processes are replaced one after the other without a failed request.',

  'S4-redis': 'A Redis killed and started again during 200 requests a second fails no inference, and budgets hold or are refused as configured.',
  'S4-tenancy': 'Ids of one workspace do not exist for keys of another, on any route; keys of the wrong kind are refused everywhere.',
} as const satisfies { readonly [id: string]: string }

export type RequirementId = keyof typeof REQUIREMENTS

/** The title of a test (or a group of tests) that verifies requirements: `it(verifies('P12', 'ends in-band'), ...)`. */
export function verifies(...args: readonly [RequirementId, ...RequirementId[], string]): string {
  const ids = args.slice(0, -1)
  return `${args.at(-1)} (${ids.join(', ')})`
}
