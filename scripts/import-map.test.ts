import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const CONFIG = join(ROOT, '.dependency-cruiser.cjs')
const { forbidden } = createRequire(import.meta.url)(CONFIG) as { forbidden: { name: string; comment: string }[] }

/** One planted violation per rule: the importing file, its import, and the rule that must report it. */
const PLANTED: readonly (readonly [from: string, to: string, rule: string])[] = [
  ['src/lib/a.ts', 'src/core/target.ts', 'lib-imports-nothing'],
  ['src/core/a.ts', 'src/catalog/target.ts', 'core-imports-lib'],
  ['src/doors/responses/a.ts', 'src/pipeline/target.ts', 'doors-imports'],
  ['src/catalog/a.ts', 'src/providers/target.ts', 'catalog-imports'],
  ['src/config/a.ts', 'src/catalog/target.ts', 'config-imports'],
  ['src/router/a.ts', 'src/catalog/target.ts', 'router-imports'],
  ['src/plugins/a.ts', 'src/pipeline/target.ts', 'plugins-imports'],
  ['src/tools/a.ts', 'src/plugins/target.ts', 'tools-imports'],
  ['src/destinations/a.ts', 'src/delivery/target.ts', 'destinations-imports'],
  ['src/delivery/a.ts', 'src/destinations/target.ts', 'delivery-imports'],
  ['src/accounts/a.ts', 'src/store/target.ts', 'accounts-imports'],
  ['src/store/a.ts', 'src/accounts/target.ts', 'store-imports'],
  ['src/telemetry/a.ts', 'src/http/target.ts', 'telemetry-imports'],
  ['src/dialects/chat/a.ts', 'src/providers/target.ts', 'dialects-imports'],
  ['src/providers/a.ts', 'src/catalog/target.ts', 'providers-imports'],
  ['src/pipeline/a.ts', 'src/doors/target.ts', 'pipeline-imports'],
  ['src/http/a.ts', 'src/router/target.ts', 'http-imports'],
  ['src/http/b.ts', 'src/testing/target.ts', 'testing-is-for-tests'],
  ['src/http/c.ts', 'src/app.ts', 'nothing-imports-the-root'],
  ['src/http/d.ts', 'src/wiring/target.ts', 'nothing-imports-the-root'],
  ['src/providers/b.ts', 'src/providers/target.ts', 'providers-are-islands'],
  ['src/plugins/b.ts', 'src/plugins/target.ts', 'plugins-are-islands'],
  ['src/tools/b/index.ts', 'src/tools/target.ts', 'tools-are-islands'],
  ['src/importers/a.ts', 'src/config/target.ts', 'importers-imports'],
  ['src/importers/b/index.ts', 'src/importers/target.ts', 'importers-are-islands'],
  ['src/importers/shared/b.ts', 'src/importers/target.ts', 'importers-shared-is-below'],
  ['src/destinations/b.ts', 'src/destinations/target.ts', 'destinations-are-islands'],
  ['src/providers/shared/b.ts', 'src/providers/target.ts', 'providers-shared-is-below'],
  ['src/plugins/shared/b.ts', 'src/plugins/target.ts', 'plugins-shared-is-below'],
  ['src/tools/shared/b.ts', 'src/tools/target.ts', 'tools-shared-is-below'],
  ['src/destinations/shared/b.ts', 'src/destinations/target.ts', 'destinations-shared-is-below'],
  ['src/store/b.ts', 'e2e/target.ts', 'src-stands-alone'],
  ['src/store/c.ts', 'vitest', 'runtime-dependencies-only'],
  ['console/src/a.ts', 'src/core/target.ts', 'the-console-is-a-client'],
  ['src/wiring/b.ts', 'console/src/target.ts', 'nothing-imports-the-console'],
  ['examples/a.ts', 'src/core/target.ts', 'examples-are-clients'],
  ['console/src/pages/b/page.ts', 'console/src/pages/target.ts', 'pages-are-islands'],
  ['src/store/d.ts', 'src/store/missing.ts', 'resolvable'],
]

/** Normal imports, none of which may be reported. */
const ALLOWED: readonly (readonly [from: string, to: string])[] = [
  ['src/core/ok.ts', 'src/lib/target.ts'],
  ['src/doors/responses/ok.ts', 'src/core/target.ts'],
  ['src/providers/ok.ts', 'src/dialects/target.ts'],
  ['src/providers/ok2.ts', 'src/providers/shared/target.ts'],
  ['src/providers/index.ts', 'src/providers/target.ts'],
  ['src/providers/azure/index.ts', 'src/providers/azure/sign.ts'],
  ['src/pipeline/ok.ts', 'src/router/target.ts'],
  ['src/http/ok.ts', 'src/doors/target.ts'],
  ['src/http/ok2.ts', 'src/pipeline/target.ts'],
  ['src/app.ts', 'src/store/target.ts'],
  ['src/app.ts', 'src/wiring/target.ts'],
  ['src/wiring/ok.ts', 'src/store/target.ts'],
  ['src/cli/serve.ts', 'src/app.ts'],
  ['src/store/ok.test.ts', 'src/testing/target.ts'],
  ['src/store/ok.ts', 'zod'],
  ['console/src/pages/ok/page.ts', 'console/src/pages/ok/part.ts'],
  ['console/src/pages/ok/page.ts', 'console/src/ui/target.ts'],
]

const tree = mkdtempSync(join(tmpdir(), 'signalbox-imports-'))

function write(file: string, imports: readonly string[]): void {
  mkdirSync(dirname(join(tree, file)), { recursive: true })
  const up = '../'.repeat(file.split('/').length - 1)
  const lines = imports.map(
    (target, i) => `import * as m${i} from '${target.includes('/') ? `${up === '' ? './' : up}${target}` : target}'\nexport const v${i} = m${i}\n`,
  )
  writeFileSync(join(tree, file), lines.join('') === '' ? 'export const value = 1\n' : lines.join(''))
}

interface Violation {
  readonly from: string
  readonly to: string
  readonly rule: { readonly name: string }
}

function cruise(): Promise<readonly Violation[]> {
  return new Promise((resolve, reject) => {
    const args = [join(ROOT, 'node_modules/.bin/depcruise'), '--config', CONFIG, '--output-type', 'json', 'src', 'e2e', 'console', 'examples']
    execFile(process.execPath, args, { cwd: tree, maxBuffer: 64 * 1024 * 1024, timeout: 30_000 }, (error, stdout, stderr) => {
      if (stdout === '') reject(new Error(`depcruise said nothing: ${stderr} ${error?.message ?? ''}`))
      else resolve((JSON.parse(stdout) as { summary: { violations: readonly Violation[] } }).summary.violations)
    })
  })
}

describe('the import map', () => {
  let violations: readonly Violation[] = []

  beforeAll(async () => {
    const pairs = [
      ...PLANTED.map(([from, to]) => [from, to] as const),
      ...ALLOWED,
      ['src/lib/cycle-a.ts', 'src/lib/cycle-b.ts'],
      ['src/lib/cycle-b.ts', 'src/lib/cycle-a.ts'],
    ] as const
    const files = new Map<string, string[]>()
    for (const [from, to] of pairs) {
      files.set(from, [...(files.get(from) ?? []), to])
      if (to.includes('/') && !to.endsWith('missing.ts') && !files.has(to)) files.set(to, [])
    }
    for (const [file, imports] of files) write(file, imports)
    writeFileSync(join(tree, 'package.json'), JSON.stringify({ type: 'module', dependencies: { zod: '*' }, devDependencies: { vitest: '*' } }))
    writeFileSync(
      join(tree, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: { module: 'NodeNext', moduleResolution: 'NodeNext', allowImportingTsExtensions: true, noEmit: true } }),
    )
    symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
    violations = await cruise()
  }, 60_000)
  afterAll(() => rmSync(tree, { recursive: true, force: true }))

  const rulesFor = (from: string): readonly string[] => violations.filter((violation) => violation.from === from).map(({ rule }) => rule.name)

  it.each(PLANTED)('%s importing %s breaks %s', (from, _to, rule) => {
    expect(rulesFor(from)).toContain(rule)
  })

  it('finds cycles', () => {
    expect(rulesFor('src/lib/cycle-a.ts')).toEqual(['no-cycles'])
  })

  it.each(ALLOWED)('%s may import %s', (from) => {
    expect(rulesFor(from)).toEqual([])
  })

  it('has no rule without a planted violation and none without a reason', () => {
    const planted = new Set([...PLANTED.map(([, , rule]) => rule), 'no-cycles'])
    expect(forbidden.map(({ name }) => name).filter((name) => !planted.has(name))).toEqual([])
    expect(forbidden.filter(({ comment }) => comment.length < 20)).toEqual([])
  })
})
