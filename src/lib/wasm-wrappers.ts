import { setFlagsFromString } from 'node:v8'

let isDone = false

/**
 * To be called before the first thread is started. From a thousand calls of a JavaScript function by WebAssembly on (the HTTP parser of undici, what
 * strips types from sources) V8 13.6 compiles the way between the two, keeps it in one place for all threads and counts who uses it; when a thread
 * ends while another takes the same one, it is freed while in use, and the process ends with SIGSEGV (`Runtime_TierUpWasmToJSWrapper`,
 * `NativeModule::FreeCode`). The general way, which is not counted, is as fast here. Holds for what is instantiated from now on, in every thread.
 */
export function keepWasmWrappersGeneric(): void {
  if (isDone) return
  isDone = true
  setFlagsFromString(`--wasm-wrapper-tiering-budget=${2 ** 31 - 1}`)
}
