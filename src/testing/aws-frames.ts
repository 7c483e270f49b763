import { crc32 } from 'node:zlib'

/** One header whose value is a string (type 7). */
function encodeHeader(name: string, value: string): Buffer {
  const bytes = Buffer.from(value)
  const length = Buffer.alloc(2)
  length.writeUInt16BE(bytes.length)
  return Buffer.concat([Buffer.from([Buffer.byteLength(name)]), Buffer.from(name), Buffer.from([7]), length, bytes])
}

/** One AWS event-stream frame with both checksums, from its headers and its payload. */
export function encodeAwsFrame(headers: { readonly [name: string]: string } | Buffer, payload: string | Buffer): Buffer {
  const block = Buffer.isBuffer(headers) ? headers : Buffer.concat(Object.entries(headers).map(([name, value]) => encodeHeader(name, value)))
  const body = Buffer.from(payload)
  const frame = Buffer.alloc(16 + block.length + body.length)
  frame.writeUInt32BE(frame.length, 0)
  frame.writeUInt32BE(block.length, 4)
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8)
  block.copy(frame, 12)
  body.copy(frame, 12 + block.length)
  frame.writeUInt32BE(crc32(frame.subarray(0, frame.length - 4)), frame.length - 4)
  return frame
}

/** An event as Bedrock sends it. */
export function awsEvent(type: string, payload: unknown): Buffer {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload)
  return encodeAwsFrame({ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }, body)
}

/** An exception within a stream. */
export function awsException(type: string, payload: unknown): Buffer {
  return encodeAwsFrame({ ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' }, JSON.stringify(payload))
}
