import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { answerCall, type DeliveryThreadData, type FromThread, type ToThread } from '../delivery/thread-protocol.ts'
import { waitForAddresses } from '../lib/address-patience.ts'
import { shareLookups } from '../lib/lookup.ts'
import { serveThread } from './delivery-thread.ts'

/** The entry file of the delivery thread. */

/**
 * Serving calls comes first. On Linux priorities belong to threads: if all processors are busy this thread gets a quarter of one, otherwise as much
 * as it needs.
 */
const NICENESS = 5

const port = parentPort
if (port !== null) {
  const post = (message: FromThread): void => port.postMessage(message)
  if (process.platform === 'linux') setPriority(NICENESS)
  waitForAddresses()
  shareLookups()
  // Calls that arrive during the start wait for it.
  const methods = serveThread(workerData as DeliveryThreadData, post)
  port.on('message', (message: ToThread) => void methods.then((ready) => answerCall(ready, message, post)))
}
