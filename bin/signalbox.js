#!/usr/bin/env node
// The one file that is not TypeScript: Node compiles what it strips types from, and whoever strips the entry keeps the stripper in memory,
// 15 MB a thread. From here on everything comes from the compile cache, in threads and child processes, too.
import { enableCompileCache } from 'node:module'
import { dirname } from 'node:path'

const { directory } = enableCompileCache()
if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= dirname(directory)

const { run } = await import('../src/cli/run.ts')
await run(process.argv)
