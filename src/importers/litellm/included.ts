import type { IncludedFiles } from '../shared/importer.ts'

type Tree = { readonly [key: string]: unknown }

/**
 * Files included by a configuration of the proxy. They are merged as in the proxy: lists are appended, any other value replaces that of the first
 * file, and includes within included files are ignored (litellm/proxy/proxy_server.py, `_process_includes`).
 */
export const included: IncludedFiles = {
  filesOf: (tree) => namesOf(tree) ?? [],
  join(tree, parts) {
    if (namesOf(tree) === undefined) return tree
    const merged: { [key: string]: unknown } = { __proto__: null, ...(tree as Tree) }
    for (const part of parts) {
      for (const [key, value] of Object.entries(isTree(part) ? part : {})) {
        const before = merged[key]
        merged[key] = Array.isArray(before) && Array.isArray(value) ? [...(before as unknown[]), ...(value as unknown[])] : value
      }
    }
    delete merged['include']
    return merged
  },
}

const isTree = (tree: unknown): tree is Tree => typeof tree === 'object' && tree !== null && !Array.isArray(tree)

function namesOf(tree: unknown): readonly string[] | undefined {
  const names = isTree(tree) ? tree['include'] : undefined
  return Array.isArray(names) && names.every((name) => typeof name === 'string') ? names : undefined
}
