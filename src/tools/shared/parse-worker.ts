import { parentPort } from 'node:worker_threads'
import { readDocument } from './readable-text.ts'

interface Task {
  readonly bytes: Uint8Array
  readonly kind: 'html' | 'pdf'
  readonly charset?: string | undefined
}

parentPort?.on('message', (task: Task) => {
  readDocument(task.bytes, task.kind, task.charset).then(
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origin
    (result) => parentPort?.postMessage({ result }),
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origin
    () => parentPort?.postMessage({ failed: true }),
  )
})
