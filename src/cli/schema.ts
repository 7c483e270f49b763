import { configJsonSchema } from '../config/schema.ts'

/** `signalbox check --schema`: what a configuration file may hold, for editors. */
export function printSchema(): void {
  process.stdout.write(`${JSON.stringify(configJsonSchema(), undefined, 2)}\n`)
}
