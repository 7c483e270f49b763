import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { GatewayError } from '../core/error.ts'
import type { ConsoleFile, ConsoleFiles } from '../http/management/console-routes.ts'

/** Builds are in `dist`, two folders above the sources of this room, or one folder above a bundle. */
const PLACES = [join(import.meta.dirname, '..'), join(import.meta.dirname, '../../dist')]

const throwRebuilt = (): never => {
  throw new GatewayError('not_found', 'The console was built anew since this gateway started: start it again')
}

/** The console as last built; undefined if it was not: `npm start` and images build it, a bare checkout has none. */
export function findConsole(places: readonly string[] = PLACES): ConsoleFiles | undefined {
  for (const place of places) {
    try {
      const { folder } = JSON.parse(readFileSync(join(place, 'console.json'), 'utf8')) as { readonly folder: string }
      const files = JSON.parse(readFileSync(join(place, folder, 'files.json'), 'utf8')) as readonly ConsoleFile[]
      const byPath = new Map(files.map((file) => [file.path, file]))
      return {
        build: folder,
        get: (path) => byPath.get(path),
        read: ({ path }, encoding) => readFile(join(place, folder, encoding === undefined ? path : `${path}.${encoding}`)).catch(throwRebuilt),
      }
    } catch {
      // Not in this place.
    }
  }
  return undefined
}
