import { Anchor, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { GenerationDetail } from '../../api/schema.ts'
import { count, duration, moment, usd } from '../../lib/format.ts'
import { Facts, type FactsProps } from '../../ui/facts.tsx'
import { partlyKnown } from './cost.ts'
import { Timeline } from './timeline-view.tsx'

const FORMATS = {
  responses: 'Responses',
  chat_completions: 'Chat Completions',
  messages: 'Messages',
  generate_content: 'generateContent',
  embeddings: 'Embeddings',
} as const

type Known = FactsProps['of']

/** Tokens, times, cost and origin of a call. */
export function Summary({ of }: { readonly of: GenerationDetail }): ReactNode {
  return (
    <Stack>
      <Timeline of={of} />
      <Facts label="Summary" of={[...timesOf(of), ...tokensOf(of), ...outcomeOf(of), ...originOf(of)]} />
      {of.pipeline.length > 0 && (
        <Facts
          label="Pipeline stages"
          of={of.pipeline.map((stage) => [stage.name, `${stage.summary ?? stage.type}${stage.cost_usd == null ? '' : `, ${usd(stage.cost_usd)}`}`])}
        />
      )}
    </Stack>
  )
}

const timesOf = (of: GenerationDetail): Known => [
  ['Started', moment(of.created_at)],
  ['Duration', duration(of.generation_time)],
  ['First token', of.latency === null ? null : duration(of.latency)],
  ['Routing', of.routing_time === null ? null : duration(of.routing_time)],
  ['Speed', speedOf(of)],
]

/** Tokens per second while streaming; null if that would be meaningless. */
function speedOf({ generation_time, latency, tokens_completion }: GenerationDetail): string | null {
  const seconds = ((generation_time ?? 0) - (latency ?? 0)) / 1_000
  if (latency === null || seconds <= 0 || (tokens_completion ?? 0) === 0) return null
  return `${count(tokens_completion! / seconds)} tokens/s`
}

function tokensOf(of: GenerationDetail): Known {
  const part = (value: number | null, word: string): string => ((value ?? 0) > 0 ? `, ${count(value)} of them ${word}` : '')
  return [
    ['Tokens in', `${count(of.tokens_prompt)}${part(of.native_tokens_cached, 'cached')}`],
    ['Tokens out', `${count(of.tokens_completion)}${part(of.native_tokens_reasoning, 'reasoning')}`],
    ['Cost', <Money key="cost" of={of.cost} />],
    ['Paid by', of.is_byok ? 'own provider key' : null],
  ]
}

function outcomeOf(of: GenerationDetail): Known {
  const native = of.native_finish_reason === of.finish_reason ? null : of.native_finish_reason
  return [
    ['Finish reason', of.finish_reason === null ? native : `${of.finish_reason}${native === null ? '' : ` (${native})`}`],
    ['Status', of.http_status],
    ['Requested', of.requested_model],
    ['Chosen by', of.router],
    ['Served by', of.upstream_model === null ? null : `${of.provider_name ?? ''} · ${of.upstream_model}`],
    ['Tier', of.service_tier],
    ['Format', `${(FORMATS as { readonly [format: string]: string })[of.api_type] ?? of.api_type}, ${of.streamed ? 'streamed' : 'not streamed'}`],
  ]
}

const originOf = (of: GenerationDetail): Known => [
  ['Key', <To key="key" href={`/keys?${new URLSearchParams({ workspace: of.workspace_id, key: of.api_key_hash })}`} text={of.api_key_name} />],
  ['Session', of.session_id && <To key="session" href={`/generations?${new URLSearchParams({ session_id: of.session_id })}`} text={of.session_id} />],
  ['User', of.external_user],
  ['Preset', of.preset_id],
  [
    'Replayed from',
    of.response_cache_source_id && (
      <To key="source" href={`/generations?id=${encodeURIComponent(of.response_cache_source_id)}`} text={of.response_cache_source_id} />
    ),
  ],
  ['Client', of.user_agent],
  ['Origin', of.origin ?? of.http_referer],
  ['Request id', of.request_id],
  ['Upstream id', of.upstream_id],
]

/** A link to something related: the key, or the calls of a session. */
const To = ({ href, text }: { readonly href: string; readonly text: string }): ReactNode => (
  <Anchor component={Link} href={href} size="sm">
    {text}
  </Anchor>
)

function Money({ of }: { readonly of: GenerationDetail['cost'] }): ReactNode {
  const parts = [
    `in ${usd(of.input)}`,
    `out ${usd(of.output)}`,
    ...Object.entries(of.extras).map(([name, value]) => `${name} ${usd(value)}`),
    ...(of.cache_discount === 0 ? [] : [`caching ${of.cache_discount > 0 ? 'saved' : 'added'} ${usd(Math.abs(of.cache_discount))}`]),
    ...(of.byok === 0 ? [] : [`${usd(of.byok)} paid to own provider accounts`]),
  ]
  if (of.source === 'unknown') return partlyKnown(of)
  return (
    <>
      {usd(of.total)}{' '}
      <Text span size="xs" c="dimmed">
        ({parts.join(', ')}; {of.source === 'upstream' ? 'as the provider reported' : 'by list price'})
      </Text>
    </>
  )
}
