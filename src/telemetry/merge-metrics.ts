/** The metrics of one process in the Prometheus text format. */
export interface ProcessMetrics {
  /** The value of the label `worker` that is added to each sample. */
  readonly worker: string
  readonly text: string
}

interface Family {
  readonly head: string[]
  readonly samples: string[]
}

const COMMENT = /^# (HELP|TYPE) (\S+)/
const SAMPLE = /^([^\s{]+)(\{[^]*\})?\s(.*)$/
/** The suffixes of a family's further sample names. */
const SUFFIX = /_(bucket|sum|count)$/

/** The metrics of several processes as one text: families stay together, as the format requires, and each sample is labelled with its process. */
export function mergeMetrics(processes: readonly ProcessMetrics[]): string {
  const families = new Map<string, Family>()
  const familyOf = (name: string): Family => {
    let family = families.get(name)
    if (family === undefined) families.set(name, (family = { head: [], samples: [] }))
    return family
  }
  for (const { worker, text } of processes) {
    const label = `worker="${worker}"`
    for (const line of text.split('\n')) {
      const comment = COMMENT.exec(line)
      if (comment !== null) {
        const { head } = familyOf(comment[2]!)
        if (!head.some((known) => known.startsWith(comment[0]))) head.push(line)
        continue
      }
      const sample = SAMPLE.exec(line)
      if (sample === null) continue
      const [, name = '', labels = '', value = ''] = sample
      const base = name.replace(SUFFIX, '')
      const merged = labels === '' || labels === '{}' ? `{${label}}` : `${labels.slice(0, -1)},${label}}`
      familyOf(families.has(name) || !families.has(base) ? name : base).samples.push(`${name}${merged} ${value}`)
    }
  }
  const lines = [...families.values()].filter(({ samples }) => samples.length > 0).flatMap(({ head, samples }) => [...head, ...samples])
  return `${lines.join('\n')}\n`
}
