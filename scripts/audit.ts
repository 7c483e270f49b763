/**
 * Asks the registry for known advisories against what ships. Ends with code 1 for one that is high or critical; a registry that does not
 * answer the question (mirrors often do not) is said, and fails nothing.
 *
 *   npm run audit
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const LIMIT_MS = 60_000

export type Verdict = { readonly kind: 'clean' | 'silent'; readonly message: string } | { readonly kind: 'found'; readonly message: string }

/** What npm's JSON answer means. */
export function judgeAudit(output: string): Verdict {
  let report: { readonly vulnerabilities?: { readonly [name: string]: { readonly severity: string; readonly range?: string } } }
  try {
    report = JSON.parse(output) as typeof report
  } catch {
    return { kind: 'silent', message: 'the registry gave no answer that can be read' }
  }
  if (report.vulnerabilities === undefined) return { kind: 'silent', message: 'the registry does not answer audits' }
  const found = Object.entries(report.vulnerabilities)
  const grave = found.filter(([, { severity }]) => severity === 'high' || severity === 'critical')
  if (grave.length === 0) return { kind: 'clean', message: `no grave advisories, ${found.length} others` }
  return { kind: 'found', message: grave.map(([name, { severity, range = '' }]) => `${severity}: ${name} ${range}`).join('\n') }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const options = { cwd: join(import.meta.dirname, '..'), timeout: LIMIT_MS, maxBuffer: 64 * 1024 * 1024 }
  // npm ends with 1 both for findings and for a registry that refuses: only its answer tells them apart.
  execFile('npm', ['audit', '--omit=dev', '--json'], options, (_error, output) => {
    const { kind, message } = judgeAudit(output)
    console.log(kind === 'silent' ? `NOT AUDITED: ${message}` : message)
    if (kind === 'found') process.exitCode = 1
  })
}
