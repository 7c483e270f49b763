import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { bundledLicences } from './bundled-licences.ts'

function installed(packages: { readonly [folder: string]: { readonly [file: string]: string } }): string {
  const root = mkdtempSync(join(tmpdir(), 'signalbox-licences-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const [folder, files] of Object.entries(packages)) {
    mkdirSync(join(root, 'node_modules', folder), { recursive: true })
    for (const [name, text] of Object.entries(files)) writeFileSync(join(root, 'node_modules', folder, name), text)
  }
  return join(root, 'node_modules')
}

it('names each package of the modules once, by name, with the texts of its licence and its notices', () => {
  const folder = installed({
    zeta: { 'package.json': '{"name":"zeta","version":"2.0.0","license":"MIT"}', LICENSE: 'May be used.\n', 'index.js': '' },
    '@acme/alpha': {
      'package.json': '{"name":"@acme/alpha","version":"1.0.0","license":"Apache-2.0"}',
      'LICENSE.md': 'Terms',
      NOTICE: 'By Acme',
      'licensee.js': '',
    },
    'zeta/node_modules/inner': { 'package.json': '{"name":"inner","version":"3.0.0","license":"ISC"}' },
    unused: { 'package.json': '{"name":"unused","version":"1.0.0","license":"MIT"}' },
  })
  const modules = ['zeta/a.js', 'zeta/lib/b.js', '@acme/alpha/index.js', 'zeta/node_modules/inner/index.js'].map((file) => join(folder, file))
  expect(bundledLicences([...modules, '/app/src/index.ts', '\0virtual:node_modules/helper/'])).toBe(
    [
      '# Licences of the packages in this bundle\n',
      '## @acme/alpha 1.0.0\n\nLicence: Apache-2.0\n\nTerms\n\nBy Acme\n',
      '## inner 3.0.0\n\nLicence: ISC\n',
      '## zeta 2.0.0\n\nLicence: MIT\n\nMay be used.\n',
    ].join('\n'),
  )
})
