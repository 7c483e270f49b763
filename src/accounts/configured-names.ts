import type { ConfiguredGuardrail } from '../core/guardrail.ts'
import type { ApiKey, Workspace } from '../core/store.ts'

/**
 * Slugs and names by which the operator's file binds workspaces and keys. Those that are bound may not change their slug or name, or they would lift
 * a rule that was made for them.
 */
export const bindsSlug = (rules: readonly ConfiguredGuardrail[], slug: string): boolean => rules.some(({ workspaces }) => workspaces?.includes(slug))

export const bindsKeyName = (rules: readonly ConfiguredGuardrail[], name: string): boolean => rules.some(({ keys }) => keys?.includes(name))

/** Names in rules that no workspace or key has: a rule that binds nothing is more likely a typing error than an intention. */
export function unknownNames(
  rules: readonly ConfiguredGuardrail[],
  workspaces: readonly Pick<Workspace, 'id' | 'slug'>[],
  keys: readonly Pick<ApiKey, 'hash' | 'name'>[],
): readonly { readonly guardrail: string; readonly kind: 'workspace' | 'key'; readonly name: string }[] {
  const known = {
    workspace: new Set(workspaces.flatMap(({ id, slug }) => [id, slug])),
    key: new Set(keys.flatMap(({ hash, name }) => [hash, name])),
  }
  return rules.flatMap((rule) => [
    ...(rule.workspaces ?? [])
      .filter((name) => !known.workspace.has(name))
      .map((name) => ({ guardrail: rule.name, kind: 'workspace' as const, name })),
    ...(rule.keys ?? []).filter((name) => !known.key.has(name)).map((name) => ({ guardrail: rule.name, kind: 'key' as const, name })),
  ])
}
