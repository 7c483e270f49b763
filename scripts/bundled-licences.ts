import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Greedy: of a package within another package's folder it is the inner one. */
const PACKAGE_FOLDER = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/
const NOTICES = /^(?:licen[cs]e|copying|notice)(?:[.-]|$)/i

/**
 * The names, versions and licence texts of the packages that the modules come from, as a Markdown page. Most licences allow distribution only together
 * with their text, and a bundle has no comments left.
 *
 * @param modules absolute paths; those outside `node_modules` and virtual ones are passed over
 */
export function bundledLicences(modules: Iterable<string>): string {
  const folders = new Set<string>()
  for (const module of modules) {
    const [folder] = PACKAGE_FOLDER.exec(module) ?? []
    if (folder !== undefined && folder.startsWith('/')) folders.add(folder)
  }
  const sections = new Map([...folders].map((folder) => sectionOf(folder)))
  const sorted = [...sections].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return ['# Licences of the packages in this bundle\n', ...sorted.map(([title, text]) => `## ${title}\n\n${text}`)].join('\n')
}

function sectionOf(folder: string): readonly [title: string, text: string] {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { readonly [field: string]: unknown }
  const files = readdirSync(folder).filter((file) => NOTICES.test(file))
  const texts = files.toSorted().map((file) => `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`)
  return [`${String(name)} ${String(version)}`, `Licence: ${typeof license === 'string' ? license : JSON.stringify(license)}\n${texts.join('')}`]
}
