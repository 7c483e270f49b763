#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { dirname } from 'node:path'

const { directory } = enableCompileCache()
// For threads and child processes, too.
if (directory !== undefined) process.env['NODE_COMPILE_CACHE'] ??= dirname(directory)

const { run } = await import('./cli/run.ts')
await run(process.argv)
