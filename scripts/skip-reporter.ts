import { writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

export interface RunSummary {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** Titles of skipped tests, shortest first; a skipped suite stands for its tests. */
  readonly skippedSuites: readonly string[]
  /** Title and first words of each failure, which the reader of a truncated log needs first. */
  readonly failures: readonly string[]
}

const MAX_REASON_CHARS = 300

/** File, title and the first line of the reason. */
function describeFailure(where: string, errors: readonly { readonly message: string }[] | undefined): string {
  const reason = errors?.[0]?.message.split('\n')[0] ?? 'no reason given'
  return `${where}: ${reason.slice(0, MAX_REASON_CHARS)}`
}

/** Counts the tests of a finished run. A file that could not be loaded, or an error outside any test, counts as one failure. */
export function summarise(modules: readonly TestModule[], unhandled: readonly { readonly message: string }[]): RunSummary {
  let passed = 0
  let skipped = 0
  const failures = unhandled.map((error) => describeFailure('outside any test', [error]))
  const suites = new Map<string, number>()
  for (const module of modules) {
    if (module.errors().length > 0) failures.push(describeFailure(module.relativeModuleId, module.errors()))
    for (const test of module.children.allTests()) {
      const { state, errors } = test.result()
      if (state === 'passed') passed++
      else if (state === 'failed') failures.push(describeFailure(`${module.relativeModuleId} > ${test.fullName}`, errors))
      else {
        skipped++
        const parent = test.parent.type === 'suite' ? test.parent.fullName : test.fullName
        const title = `${module.relativeModuleId} > ${parent}`
        suites.set(title, (suites.get(title) ?? 0) + 1)
      }
    }
  }
  return { passed, failed: failures.length, skipped, skippedSuites: [...suites].map(([title, count]) => `${title} (${count})`).sort(), failures }
}

/**
 * Prints at the very end of a run which tests were skipped, because a green run with a silent skip proves less than it seems to.
 * `SIGNALBOX_FORBID_SKIPS=1` turns any skip into a failure (CI); `SIGNALBOX_TEST_SUMMARY=FILE` writes the counts as JSON.
 */
export function createSkipReporter(
  env: { readonly [name: string]: string | undefined },
  print: (text: string) => void = (text) => process.stdout.write(text),
): Reporter {
  return {
    onTestRunEnd(modules, unhandledErrors) {
      const summary = summarise(modules, unhandledErrors)
      const forbidden = env['SIGNALBOX_FORBID_SKIPS'] === '1'
      // The default reporter prints its totals in the same hook, before or after this one, so the list is printed when the current turn of the event
      // loop is over.
      setImmediate(() => print(describeSkips(summary, forbidden)))
      if (forbidden && summary.skipped > 0) process.exitCode = 1
      const file = env['SIGNALBOX_TEST_SUMMARY']
      if (file !== undefined && file !== '') writeFileSync(file, `${JSON.stringify(summary)}\n`)
    },
  }
}

/** The lines about the skips of a run; empty if there were none. */
export function describeSkips(summary: RunSummary, forbidden: boolean): string {
  if (summary.skipped === 0) return ''
  const reason = forbidden
    ? 'and SIGNALBOX_FORBID_SKIPS forbids that'
    : 'a service, a browser or the recordings they need are not here (see CONTRIBUTING.md)'
  return `\nSKIPPED: ${summary.skipped} tests did not run: ${reason}\n${summary.skippedSuites.map((title) => `  - ${title}\n`).join('')}`
}
