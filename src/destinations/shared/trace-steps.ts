import type { ChildSpan, DeliveryFailure, DeliveryRecord } from '../../core/delivery.ts'
import { endOf } from './record-metadata.ts'

/** One span of a generation's trace, for platforms with a span format of their own. Ids are the raw ones. */
export interface TraceStep {
  readonly kind: 'wrapper' | 'generation' | 'attempt' | 'tool'
  readonly id: string
  readonly name: string
  /** The step around it; for the topmost one the caller's own parent, if it named one. */
  readonly parentId?: string
  readonly isTop: boolean
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly endedAt: number
  /** Why it failed, if it did. */
  readonly error?: { readonly type: string; readonly message: string }
  /** Set for attempts and tools. */
  readonly child?: ChildSpan
}

/** Parents before children: the span that the caller named, the generation, its attempts and tools. */
export function traceSteps(record: DeliveryRecord): readonly TraceStep[] {
  const { generation, ids, names, failure } = record
  const common = { startedAt: generation.startedAt, endedAt: endOf(generation), ...(failure === undefined ? {} : { error: failure }) }
  const top = ids.parent === undefined ? {} : { parentId: ids.parent }
  const children = record.children.map(toChildStep(ids.generation))
  if (ids.wrapper === undefined || names.wrapper === undefined)
    return [{ kind: 'generation', id: ids.generation, name: names.generation, ...top, isTop: true, ...common }, ...children]
  return [
    { kind: 'wrapper', id: ids.wrapper, name: names.wrapper, ...top, isTop: true, ...common },
    { kind: 'generation', id: ids.generation, name: names.generation, parentId: ids.wrapper, isTop: false, ...common },
    ...children,
  ]
}

const GENERATION_ID = /^gen-\d{10,}-[0-9A-Za-z]{20}$/

/** The trace belongs to an earlier generation, whose id the caller gave as the trace id, so it already has its root. */
export const joinsGeneration = ({ ids }: DeliveryRecord): boolean => ids.trace !== ids.generation && GENERATION_ID.test(ids.trace)

const toChildStep =
  (parentId: string) =>
  (child: ChildSpan): TraceStep => ({
    kind: child.kind,
    id: child.id,
    name: child.name,
    parentId,
    isTop: false,
    startedAt: child.startedAt,
    endedAt: endOf(child),
    ...(child.ok ? {} : { error: childFailure(child) }),
    child,
  })

/** Why an attempt or a tool failed. */
export const childFailure = ({ attributes, message }: ChildSpan): DeliveryFailure => ({
  type: attributes['error.type']?.toString() ?? 'error',
  message: message ?? 'failed',
})
