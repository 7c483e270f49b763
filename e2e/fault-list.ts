/**
 * Faults and attacks by letter and number, and what must hold when they happen. A: incoming HTTP. B: JSON and text. C: upstreams, starting with the
 * sixteen of the public fault lab. D: callers. E: addresses that others choose. F: keys and tenants. G: secrets and prompts. H: money and resources. I:
 * state and infrastructure. J: supply chain. K: what models and pages are made to say.
 */
export const FAULTS = {
  A1: 'Headers or a body that arrive too slowly are answered with 408, and the connection closes.',
  A2: 'A caller who reads a stream slowly needs a bounded buffer and slows the upstream down; if he stops reading, his connection and the upstream are closed.',
  A3: 'A body over the limit is refused with 413 before it is buffered, whether its length is declared or not.',
  A4: 'Two lengths, a length beside chunks, folded headers and everything else that two servers could interpret differently is refused with 400, and the connection closes.',
  A5: 'Expect is honoured, an upgrade offer is ignored, and CONNECT and TRACE reach nothing.',
  A6: 'Ten thousand headers, headers of 64 KB, NUL and CR in values are refused, and nothing grows.',
  A7: 'Only the first Authorization header counts; a header spelled with an underscore is another header.',
  A8: 'Authentication belongs to the handler: no spelling of a path, absolute target or Host reaches one without a key.',
  A9: 'Pipelined requests are answered in order; after an error the connection continues if the body was read, else it closes.',
  A10: 'Thousands of idle connections (nine thousand, if the limit of files allows) need bounded memory each; beyond the limit new ones are refused and the others are served.',
  A11: 'HTTP/2 without TLS is refused in HTTP/1.1; there is no HTTP/2, and so no rapid reset.',
  A12: 'Compressed bodies are refused with an explanation: nothing from a caller is decompressed.',
  A13: 'JSON is read as UTF-8 whatever content type or charset the request declares; anything else is refused with 400.',

  B1: 'Deep nesting, a million keys and strings of many megabytes take linear time and get an answer.',
  B2: 'The key __proto__ is refused at every level, constructor and prototype are data, and nothing is polluted.',
  B3: 'The last of several equal keys counts, for validation and for the upstream.',
  B4: 'Numbers beyond doubles, NaN and negative zero are refused or carried, never turned into something else.',
  B5: 'Invalid UTF-8 is refused, half surrogates are repaired, a BOM is ignored, and characters survive any division of the bytes.',
  B6: 'Unknown fields are passed on to providers that may know them.',
  B7: 'A regular expression of a user cannot block the process.',
  B8: 'JSON schemas that refer to themselves, or expand without end, become a request or a 4xx in every dialect.',
  B9: 'Ids and names that are SQL, HTML or terminal codes are data: stored, read and logged without effect.',

  C1: 'After a 429 with a hint, the gateway waits or asks another endpoint.',
  C2: 'After a 429 without a hint, the gateway backs off a few times at most and then asks another endpoint.',
  C3: 'A single 500 is repaired by one retry on the same endpoint.',
  C4: 'A persistent 503 moves the call to another endpoint; without another endpoint the caller gets the 503.',
  C5: 'A reset before the headers moves the call to another endpoint.',
  C6: 'A request that is accepted and never answered takes one time limit and is not repeated.',
  C7: 'If headers arrive but no token in time, the call moves to another endpoint.',
  C8: 'A stream that breaks half-way is a clear failure, never a short success.',
  C9: 'A stream that becomes silent half-way is noticed in bounded time.',
  C10: 'A stream with one event that is not JSON finishes.',
  C11: 'A stream without an end mark finishes at once, usage included.',
  C12: 'A prompt that is too long is tried once on its model, then on the next model.',
  C13: 'A content policy violation is tried once, and its reason reaches the caller.',
  C14: 'If a stream breaks half-way and the fallback does not support assistant prefill, the caller never sees an error about prefill.',
  C15: 'An endpoint that is down is avoided, probed, and used again within 30 s of its recovery.',
  C16: 'An answer of the fallback names the model that gave it and has usage; failed attempts cost nothing.',
  C17: 'A name that does not resolve, a certificate that is expired or of another host, and a handshake that never ends move the call to another endpoint.',
  C18: 'A web page or an error with status 200, JSON instead of a stream and a stream instead of JSON are distinguished by their content.',
  C19: 'An error inside a stream and an answer without choices are failures, not empty successes.',
  C20: 'Events are read with any line ends, comments, names and divisions; one of 10 MB passes, one without an end is refused.',
  C21: 'Compressed answers that expand too much, have a wrong encoding or are damaged need bounded memory and lead to another endpoint.',
  C22: 'Redirects are never followed, and no credential is sent to their target.',
  C23: 'Informational answers (1xx) before the real one are ignored.',
  C24: 'Tool calls in pieces, out of order, complete only at the end or broken, unknown finish reasons, and missing or absurd usage still give a valid answer.',
  C25: 'An answer without end is cut off by size or time and reported as a failure.',
  C26: 'If a connection closes after the headers, the call moves to another endpoint.',
  C27: 'No header of an upstream reaches a caller, such as cookies, hop-by-hop headers and server names.',
  C28: 'Slow answers of a provider never delay other calls to it.',
  C29: 'Retry-After is bounded if it is a date, in the past, absurd or malformed.',
  C30: 'A provider that continues after an abort writes into a closed socket; the call ends at once.',

  D1: 'A caller who leaves in any phase (connecting, first token, stream, tool, pause between attempts) is disconnected from the upstream within 100 ms and recorded.',
  D2: 'A caller who closes his sending half has left: the upstream is released.',
  D3: 'Many repetitions with one idempotency key are as many calls, each answered and recorded once.',
  D4: 'The connection of a caller who reads nothing for 60 s is closed, streamed or not.',

  E1: 'Only the operator sets addresses of providers; no request can.',
  E2: 'Destinations reach no address that is never allowed, and private ones only if the operator allows it.',
  E3: 'The same rules apply to pages and search results that a tool fetches.',
  E4: 'The same rules apply to media given by address.',
  E5: 'The same rules apply to addresses of MCP servers.',

  F1: 'What belongs to one workspace does not exist for another, whichever operation asks.',
  F2: 'Fields about ownership or money cannot be set by those whom they restrict.',
  F3: 'An inference key allows no management, a management key no inference.',
  F4: 'Keys have more than 128 bits, are stored hashed, and are looked up by hash, so timing does not reveal how much of a guess was right.',
  F5: 'An address that guesses keys is slowed down; callers with good keys are not.',
  F6: 'A revoked or expired key is refused everywhere within five seconds.',
  F7: 'Pins, references to earlier items and kept content belong to a workspace.',
  F8: 'A third party’s web page cannot act for a caller: no cookies, CORS only for origins that the operator allows, no framing.',
  F9: 'There are no default credentials: keys are created at the first start or configured, and a public address without them is refused.',
  F10: 'What is served without a key (health, metrics, the API document) contains no key, no secret and no texts of calls.',
  F11: 'Headers that are stored in records (referer, title, user agent) are shortened and free of control characters.',

  G1: 'A planted secret (keys of any kind, the prompt) appears in no log, error, metric or API answer.',
  G2: 'Secrets are encrypted with AES-256-GCM and a named key; a wrong key ends the start with one sentence, and a rotation loses nothing.',
  G3: 'In privacy mode no destination gets texts of a call.',
  G4: 'Keys are removed from texts of providers before they reach a caller or a record.',
  G5: 'Secrets of destinations are masked when they are read, and writing a mask back keeps the secret.',

  H1: 'A hundred parallel calls spend no more than the budget and one reservation.',
  H2: 'Limits renew exactly at the period’s boundary, and once.',
  H3: 'A fallback to a more expensive model is checked against the budget again.',
  H4: 'A tool loop ends by steps, cost, time, or when it repeats itself.',
  H5: 'Tools that call models are bounded in number, depth and money.',
  H6: 'Nothing that one caller causes is served to another from a cache.',
  H7: 'Pages and PDFs that expand on purpose are parsed in a worker with limits; the process goes on.',
  H8: 'An unknown price is flagged or refused, as configured, and never silently 0.',

  I1: 'A database that is unavailable at the start, or lost, slow, read-only, full or corrupt later, fails no inference, and the start reports what is wrong. A data directory that cannot be written, or a file that is no database, refuses the start.',
  I2: 'If Redis is unavailable, no inference fails, and limits work as documented.',
  I3: 'A destination that is down has a bounded queue and delays no call and no other destination.',
  I4: 'After kill -9 at any moment files are intact, and what was recorded is delivered.',
  I5: 'SIGTERM stops accepting, finishes streams within the grace period, writes its records and exits.',
  I6: 'A newer schema is migrated once under a lock, and an older process reports it.',
  I7: 'A clock that jumps breaks no limit, no stream and no record.',
  I8: 'A busy event loop refuses calls with 503 and Retry-After.',
  I9: 'A heap that fills up makes the process refuse calls before it ends.',
  I10: 'A configuration that cannot work changes nothing: the last valid one stays.',
  I11: 'Mixed traffic with faults does not increase memory, sockets or timers.',

  J1: 'Installations come from the lockfile, exact and verified, run only the script of the pinned runtime, and stay within the limits on packages.',
  J2: 'A bill of materials can be written from the lockfile alone and names every package that ships.',
  J3: 'What is published is what is in git.',
  J4: 'CI runs pinned actions and gives pull requests no secret.',
  J5: 'Every package that ships has a licence that allows it.',
  J6: 'The image has no shell, no root and nothing to write to.',

  K1: 'A page or a search result that gives instructions does not make the gateway act: hosts stay restricted, results stay marked.',
  K2: 'Arguments of server tools are checked before anything runs.',
  K3: 'Guardrails cannot be bypassed by encoding or by splitting text over events.',
  K4: 'No credential is sent to addresses that a model chooses.',
} as const satisfies { readonly [id: string]: string }

interface WithoutTest {
  /** Why no test of this suite covers it. */
  readonly why: string
  /** How and when it will be covered. */
  readonly plan: string
}

/** Ids without a test, and why. An entry whose id has a test by now is stale and fails the suite. */
export const WITHOUT_TEST: { readonly [id: string]: WithoutTest } = {
  I11: {
    why: 'Needs 20 minutes or more of an idle machine: `npm run soak`, which is not part of the suite. The suite tests the parts: 10,000 aborts, bounded tables.',
    plan: 'A soak run before every release, and one of a day before the first, with the slope of memory in docs/reference/operations.md.',
  },
  J3: {
    why: 'Nothing is published yet: the package is private, and there is no release to compare.',
    plan: 'With the first release: its workflow packs twice from a clean checkout and compares the archive with git, file by file.',
  },
  J4: {
    why: 'CI is one script (.ci/run) without third-party actions and without secrets, so there is nothing to pin.',
    plan: 'If a hosted CI runs it, actions are pinned by commit, and npm run check also checks the workflow files.',
  },
  J6: {
    why: 'The tests need no container runtime. The image was built and run by hand on 29 November 2026: root file system read-only, no capabilities, user 65532.',
    plan: 'With the image: a job that builds it, starts it read-only as another user, and fails when it has a shell or a writable path.',
  },
  P1: {
    why: 'A day of load does not fit into a test suite. `npm run soak` and the limits of every cache, each with a test, look for the same faults.',
    plan: 'As for I11.',
  },
  P45: {
    why: '.ci/run provides the clean machine, outside of the suite: it installs from the lockfile and runs both commands of the README.',
    plan: 'A run of it in a network without access to the internet, with the recordings.',
  },
}
