import { z } from 'zod'
import type { DeliveryRecord } from '../core/delivery.ts'
import type { DeliveryOutcome, Destination, OutgoingRequest, OutgoingResponse } from '../core/destination.ts'
import { classifyHttp, excerpt } from '../core/outcome.ts'
import { toGenerationEvent } from './shared/generation-event.ts'
import { asObjects, readObject } from './shared/read-answer.ts'
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
      name: 'read the topic',
      request: { method: 'GET', url: joinUrl(options.baseUrl, `/topics/${options.topic}`), headers: requestHeaders(options) },
    },
  ],
}

const toRecord = (record: DeliveryRecord): object => ({ key: record.ids.trace, value: toGenerationEvent(record) })

/** 404 is a topic that is not there; errors of single records stand in an accepted answer, with 1 for good and 2 for now. */
function classify(response: OutgoingResponse): DeliveryOutcome {
  if (response.status === 404) return { kind: 'unauthorized', message: `HTTP 404: ${excerpt(response.body)}` }
  const outcome = classifyHttp(response)
  if (outcome.kind !== 'delivered') return outcome
  const offsets = asObjects(readObject(response)?.['offsets'])
  const failed = [...offsets.entries()].filter(([, offset]) => typeof offset?.['error_code'] === 'number')
  if (failed.length === 0) return outcome
  const rejected = failed
    .filter(([, offset]) => offset?.['error_code'] === 1)
    .map(([index, offset]) => ({ index, message: errorText(offset?.['error']) }))
  const retry = failed.filter(([, offset]) => offset?.['error_code'] !== 1).map(([index]) => index)
  return { kind: 'partial', message: `${rejected.length} records were refused, ${retry.length} are to be sent again`, rejected, retry }
}

const errorText = (error: unknown): string => (typeof error === 'string' ? error.slice(0, 300) : 'refused')
