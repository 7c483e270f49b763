import { z } from 'zod'
import type { DeliveryRecord } from '../core/delivery.ts'
import type { DeliveryOutcome, Destination, OutgoingRequest, OutgoingResponse } from '../core/destination.ts'
import { classifyHttp, excerpt } from '../core/outcome.ts'
import { toGenerationEvent } from './shared/generation-event.ts'
import { asObjects, readJson, readObject, type AnswerFields } from './shared/read-answer.ts'
import { basicAuth, destinationSettings, HEADER_SECRETS, httpUrl, joinUrl, lineText, mergeHeaders } from './shared/settings.ts'

const settings = destinationSettings({
  baseUrl: httpUrl('Address of the REST proxy.'),
  topic: z
    .string()
    .max(249)
    .regex(/^(?!\.{1,2}$)[A-Za-z0-9._-]+$/, 'is no topic name')
    .describe('Topic that receives one record per generation.'),
  username: lineText().optional().describe('User, for proxies behind Basic authentication.'),
  password: lineText().optional().describe('Password of the user.'),
})
type KafkaRestSettings = z.output<typeof settings>

function requestHeaders({ username, password, headers }: KafkaRestSettings, contentType?: string): OutgoingRequest['headers'] {
  return mergeHeaders(headers, {
    accept: 'application/vnd.kafka.v2+json, application/json',
    ...(contentType === undefined ? {} : { 'content-type': contentType }),
    ...(username || password ? { authorization: basicAuth(username ?? '', password ?? '') } : {}),
  })
}

/** Kafka through a REST proxy, version 2 of its API. Records are keyed by trace, so that a trace keeps its order. */
export const kafkaRest: Destination<KafkaRestSettings> = {
  type: 'kafka-rest',
  name: 'Kafka REST proxy',
  settings,
  secrets: ['password', HEADER_SECRETS],
  limits: { records: 200, bytes: 900_000 },
  encode: (batch, options) => [
    {
      method: 'POST',
      url: joinUrl(options.baseUrl, `/topics/${options.topic}`),
      headers: requestHeaders(options, 'application/vnd.kafka.json.v2+json'),
      body: JSON.stringify({ records: batch.map(toRecord) }),
    },
  ],
  classify,
  answersInBody: true,
  probe: (options) => [
    {
      name: 'find the topic',
      // Not every proxy can answer for a single topic.
      request: { method: 'GET', url: joinUrl(options.baseUrl, '/topics'), headers: requestHeaders(options) },
      check: (response) => checkTopics(response, options.topic),
    },
  ],
}

const toRecord = (record: DeliveryRecord): object => ({ key: record.ids.trace, value: toGenerationEvent(record) })

function checkTopics(response: OutgoingResponse, topic: string): string | undefined {
  const outcome = classifyHttp(response)
  if (outcome.kind !== 'delivered') return outcome.message
  const topics = readJson(response)
  if (!Array.isArray(topics)) return 'the answer is no list of topics: is this the address of the proxy?'
  return topics.includes(topic) ? undefined : 'there is no such topic, or this user may not see it'
}

// ---- answers ----

/**
 * Permanent errors of single records. The documentation of version 2 has 1 for permanent and 2 for temporary errors, but its servers send the same codes
 * as for all their errors.
 */
const REFUSED: ReadonlySet<unknown> = new Set([1, 50_002])
/** Kafka's own error codes, of a partition: too large; invalid; and no such topic, or no access for this user. */
const TOO_LARGE: ReadonlySet<unknown> = new Set([10, 18])
const INVALID_RECORD = 87
const CONFIGURATION: ReadonlySet<unknown> = new Set([3, 17, 29, 31, 58])

interface Failure {
  readonly index: number
  readonly code: unknown
  readonly message: string
  readonly isOfPartition: boolean
}

/** 404 means that the topic does not exist. Errors of single records are inside an accepted answer. */
function classify(response: OutgoingResponse): DeliveryOutcome {
  if (response.status === 404) return { kind: 'unauthorized', message: `HTTP 404: ${excerpt(response.body)}` }
  const outcome = classifyHttp(response)
  if (outcome.kind !== 'delivered') return outcome
  const failures = [...asObjects(readObject(response)?.['offsets']).entries()].flatMap(([index, offset]) => toFailure(index, offset))
  if (failures.length === 0) return outcome
  if (failures.some(({ isOfPartition }) => isOfPartition)) return classifyPartitions(failures.map(({ code }) => code))
  const rejected = failures.filter(({ code }) => REFUSED.has(code)).map(({ index, message }) => ({ index, message }))
  const retry = failures.filter(({ code }) => !REFUSED.has(code)).map(({ index }) => index)
  return { kind: 'partial', message: `${rejected.length} records were refused, ${retry.length} are to be sent again`, rejected, retry }
}

/** A failed record has no partition. If a partition is named, the partition failed, and the list has one entry per partition instead of one per record. */
function toFailure(index: number, offset: AnswerFields | undefined): readonly Failure[] {
  const code = offset?.['error_code']
  if (typeof code !== 'number' || code === 0) return []
  const error = offset?.['error'] ?? offset?.['message']
  const message = typeof error === 'string' ? error.slice(0, 300) : 'refused'
  return [{ index, code, message, isOfPartition: typeof offset?.['partition'] === 'number' }]
}

/** The answer does not say which records belong to a partition, so all are sent again. */
function classifyPartitions(codes: readonly unknown[]): DeliveryOutcome {
  const message = `partitions failed with ${[...new Set(codes)].join(', ')}`
  if (codes.some((code) => CONFIGURATION.has(code))) return { kind: 'unauthorized', message }
  if (codes.some((code) => TOO_LARGE.has(code))) return { kind: 'split', message }
  return { kind: codes.includes(INVALID_RECORD) ? 'reject' : 'retry', message }
}
