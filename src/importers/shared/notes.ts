/**
 * The result for a part of the source that is not imported unchanged. `lost`: callers may request something that nobody serves now; `do`: it must be
 * done by hand, or works differently; `fine`: nothing has to be done.
 */
export type NoteKind = 'lost' | 'do' | 'fine'

export interface Note {
  readonly kind: NoteKind
  /** The path in the source: `model_list[2].litellm_params.api_version`. */
  readonly path: string
  /** The result, or what to do instead; never a secret. */
  readonly message: string
}

/** Merges notes with the same message for several paths into one: `model_list[0,2-5].litellm_params.api_version`. */
export function gathered(notes: readonly Note[]): readonly Note[] {
  const groups = new Map<string, { readonly note: Note; readonly shape: string; readonly indexes: (number | undefined)[] }>()
  for (const note of notes) {
    const index = /\[(\d+)\]/.exec(note.path)?.[1]
    const shape = note.path.replace(/\[\d+\]/, '[]')
    const key = JSON.stringify([note.kind, note.message, shape])
    const group = groups.get(key) ?? { note, shape, indexes: [] }
    groups.set(key, group)
    group.indexes.push(index === undefined ? undefined : Number(index))
  }
  return [...groups.values()].map(({ note, shape, indexes }) => ({ ...note, path: shape.replace('[]', `[${ranges(indexes)}]`) }))
}

function ranges(indexes: readonly (number | undefined)[]): string {
  const sorted = [...new Set(indexes)].filter((index) => index !== undefined).toSorted((a, b) => a - b)
  const spans: [number, number][] = []
  for (const index of sorted) {
    const last = spans.at(-1)
    if (last !== undefined && last[1] === index - 1) last[1] = index
    else spans.push([index, index])
  }
  return spans.map(([from, to]) => (from === to ? `${from}` : to === from + 1 ? `${from},${to}` : `${from}-${to}`)).join(',')
}
