import { describe, expect, it } from 'vitest'
import type { FunctionTool } from '../core/item.ts'
import type { ToolSource } from '../core/tool-source.ts'
import type { OfferedTool } from './offered-tool.ts'
import { findable, translateChoice } from './tool-choice.ts'
import { createToolRegistry } from './tool-registry.ts'

const MANY = 100
const counted = <T extends object>(value: T, onLook: () => void): T =>
  new Proxy(value, { get: (target, field) => (onLook(), Reflect.get(target, field)) })

describe('a long list of allowed tools', () => {
  it('names each function of a server once, and is matched with what is offered without looking at everything each time', () => {
    let looks = 0
    const names = Array.from({ length: MANY }, (_, n) => `f${n}`)
    const byFunction = new Map(
      names.map((name) => {
        const choice = counted({ type: 'far', label: 'l', name }, () => looks++)
        return [name, { functionName: name, choice } as unknown as OfferedTool]
      }),
    )
    const source = { name: 'far', type: 'far', itemTypes: new Set() } as unknown as ToolSource
    const registry = createToolRegistry([], [source])
    const scene = { byFunction, theirs: new Map(), hostedSources: new Set<ToolSource>(), types: new Set<string>(), registry }
    const allowing = (tools: readonly object[]): unknown =>
      (translateChoice({ type: 'allowed_tools', mode: 'auto', tools }, scene) as { readonly tools: unknown }).tools
    const all = names.map((name) => ({ type: 'function', name }))
    expect(allowing(Array.from({ length: MANY }, () => ({ type: 'far' })))).toEqual(all)
    expect(allowing(names.map((name) => ({ type: 'gateway:far', label: 'l', name })))).toEqual(all)
    expect(allowing(names.map((name) => ({ type: 'far', [name]: 1 })))).toEqual([])
    expect(allowing(names.map((name) => ({ type: 'far', name: `no ${name}` })))).toEqual([])
    expect(
      allowing([
        { type: 'function', name: 'own' },
        { type: 'far', name: 'f1' },
        { type: 'function', name: 'own' },
      ]),
    ).toEqual([
      { type: 'function', name: 'own' },
      { type: 'function', name: 'f1' },
      { type: 'function', name: 'own' },
    ])
    expect(looks).toBeLessThan(MANY * 50)
  })

  it('is searched for deferred functions in one pass', () => {
    let looks = 0
    const deferred = Array.from({ length: MANY }, (_, n): FunctionTool => ({ type: 'function', name: `f${n}` }))
    const tools = Array.from({ length: MANY }, (_, n) => counted({ type: 'function', name: `f${n + MANY - 1}` }, () => looks++))
    expect(findable(deferred, { type: 'allowed_tools', mode: 'auto', tools })).toEqual([deferred.at(-1)])
    expect(looks).toBeLessThan(MANY * 10)
  })
})
