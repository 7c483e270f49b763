import { MessageChannel } from 'node:worker_threads'
import type { Thread } from '../delivery/thread-host.ts'
import { answerCall, type DeliveryThreadData, type FromThread, type ToThread } from '../delivery/thread-protocol.ts'
import { serveThread } from '../wiring/delivery-thread.ts'

/**
 * What the delivery thread does, in this thread: over the same messages, copied in the same way, but without a heap and modules of its own, which take
 * three quarters of what a gateway costs to start and stop. An error that would end the thread ends the tests.
 */
export function spawnInline(data: DeliveryThreadData): Thread {
  const { port1: gateway, port2: delivery } = new MessageChannel()
  const post = (message: FromThread): void => delivery.postMessage(message, [])
  const methods = serveThread(structuredClone(data), post)
  delivery.on('message', (message: ToThread) => void methods.then((ready) => answerCall(ready, message, post)))
  return {
    send: (message) => gateway.postMessage(message, []),
    listen: ({ message, exit }) => void gateway.on('message', message).on('close', exit),
    terminate: async () => gateway.close(),
  }
}
