import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'

/** (module (import "m" "f" (func $f (param i32) (result i32))) (func (export "g") (param i32) (result i32) (call $f (local.get 0)))) */
const MODULE = '0,97,115,109,1,0,0,0,1,6,1,96,1,127,1,127,2,7,1,1,109,1,102,0,0,3,2,1,0,7,5,1,1,103,0,1,10,8,1,6,0,32,0,16,0,11'

/** What V8 compiles in a thread in which WebAssembly calls JavaScript five thousand times, in a separate process without type stripping. */
function compiled(before: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-wasm-'))
  try {
    writeFileSync(join(folder, 'wrappers.mjs'), stripTypeScriptTypes(readFileSync(new URL('./wasm-wrappers.ts', import.meta.url), 'utf8')))
    writeFileSync(
      join(folder, 'thread.mjs'),
      `const module = new WebAssembly.Module(new Uint8Array([${MODULE}]))
       const { g } = new WebAssembly.Instance(module, { m: { f: (x) => x + 1 } }).exports
       for (let n = 0; n < 5000; n++) g(n)`,
    )
    const main = join(folder, 'main.mjs')
    writeFileSync(
      main,
      `import { Worker } from 'node:worker_threads'
       import { keepWasmWrappersGeneric } from './wrappers.mjs'
       ${before}
       new Worker(new URL('./thread.mjs', import.meta.url))`,
    )
    const { stdout, stderr, status } = spawnSync(process.execPath, ['--trace-wasm-compilation-times', main], { encoding: 'utf8', timeout: 20_000 })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    return stdout
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

it('no way from WebAssembly to JavaScript is compiled for all threads: one that is freed in use ends the process', () => {
  expect(compiled('')).toContain('WasmToJS wrapper')
  expect(compiled('keepWasmWrappersGeneric()')).not.toContain('WasmToJS wrapper')
})
