/**
 * Asks the registry for known advisories on the packages that ship. Exits with 1 if one is high or critical. A registry that does not answer the
 * question (mirrors often do not) is reported, but does not fail the audit.
 *
 *   npm run audit
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { consolePackages, lockedPackages, runs } from './sbom.ts'

const LIMIT_MS = 60_000

export type Verdict = { readonly kind: 'clean' | 'silent'; readonly message: string } | { readonly kind: 'found'; readonly message: string }

/** Evaluates npm's JSON output for the packages that `concerns` names. */
export function judgeAudit(output: string, concerns: (name: string) => boolean): Verdict {
  let report: { readonly vulnerabilities?: { readonly [name: string]: { readonly severity: string; readonly range?: string } } }
  try {
    report = JSON.parse(output) as typeof report
  } catch {
    return { kind: 'silent', message: 'the registry gave no answer that can be read' }
  }
  if (report.vulnerabilities === undefined) return { kind: 'silent', message: 'the registry does not answer audits' }
  const found = Object.entries(report.vulnerabilities).filter(([name]) => concerns(name))
  const grave = found.filter(([, { severity }]) => severity === 'high' || severity === 'critical')
  if (grave.length === 0) return { kind: 'clean', message: `no grave advisories, ${found.length} others` }
  return { kind: 'found', message: grave.map(([name, { severity, range = '' }]) => `${severity}: ${name} ${range}`).join('\n') }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const options = { cwd: join(import.meta.dirname, '..'), timeout: LIMIT_MS, maxBuffer: 64 * 1024 * 1024 }
  const packages = lockedPackages()
  const shipped = new Set([...packages.filter(runs), ...consolePackages(packages)].map(({ name }) => name))
  // Audits all packages, because npm counts those that the console is built from as development dependencies. npm exits with 1 both for findings and
  // for a registry that refuses; only its output distinguishes them.
  execFile('npm', ['audit', '--json'], options, (_error, output) => {
    const { kind, message } = judgeAudit(output, (name) => shipped.has(name))
    console.log(kind === 'silent' ? `NOT AUDITED: ${message}` : message)
    if (kind === 'found') process.exitCode = 1
  })
}
