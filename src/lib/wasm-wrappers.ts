import { setFlagsFromString } from 'node:v8'

let isDone = false

/**
 * Must be called before the first thread is started. After a thousand calls of a JavaScript function from WebAssembly (undici's HTTP parser, type
 * stripping) V8 13.6 compiles the transition between the two and shares it between threads, with a count of users. If a thread ends while another one
 * takes the same code, it is freed while in use, and the process ends with SIGSEGV (`Runtime_TierUpWasmToJSWrapper`, `NativeModule::FreeCode`). The
 * generic transition, which is not counted, is as fast here. Affects everything instantiated afterwards, in every thread.
 */
export function keepWasmWrappersGeneric(): void {
  if (isDone) return
  isDone = true
  setFlagsFromString(`--wasm-wrapper-tiering-budget=${2 ** 31 - 1}`)
}
