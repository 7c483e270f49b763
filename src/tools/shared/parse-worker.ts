import { parentPort } from 'node:worker_threads'
import { readDocument } from './readable-text.ts'

interface Task {
  readonly bytes: Uint8Array
  readonly kind: 'html' | 'pdf'
  readonly charset: string
}

parentPort?.on('message', (task: Task) => {
  readDocument(task.bytes, task.kind, task.charset).then(
    (result) => parentPort?.postMessage({ result }),
    () => parentPort?.postMessage({ failed: true }),
  )
})
