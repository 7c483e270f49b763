/**
 * The part of protocol buffers that an exporter needs: varints, fixed 64-bit numbers, length-delimited fields. Hand-written, because the messages are few
 * and stable, and a runtime with a schema compiler would be the largest dependency of the hot loop.
 */
export class ProtobufWriter {
  #buffer: Buffer
  #length = 0

  constructor(capacity = 1024) {
    this.#buffer = Buffer.allocUnsafe(capacity)
  }

  /** Returns everything written. The writer must not be used afterwards. */
  finish(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + bytes))
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
  }

  #varint(value: number): void {
    this.#reserve(10)
    let rest = value
    while (rest > 0x7f) {
      this.#buffer[this.#length++] = (rest % 128) | 0x80
      rest = Math.floor(rest / 128)
    }
    this.#buffer[this.#length++] = rest
  }

  #tag(field: number, wireType: 0 | 1 | 2): void {
    this.#varint(field * 8 + wireType)
  }

  /** A non-negative integer below 2^53: uint32, enum, bool. */
  uint(field: number, value: number): void {
    this.#tag(field, 0)
    this.#varint(value)
  }

  /** Any safe integer as int64; negative integers take ten bytes. */
  int64(field: number, value: number): void {
    if (value >= 0) return this.uint(field, value)
    this.#tag(field, 0)
    this.#reserve(10)
    let rest = BigInt.asUintN(64, BigInt(value))
    while (rest > 0x7fn) {
      this.#buffer[this.#length++] = Number(rest & 0x7fn) | 0x80
      rest >>= 7n
    }
    this.#buffer[this.#length++] = Number(rest)
  }

  fixed64(field: number, value: bigint): void {
    this.#tag(field, 1)
    this.#reserve(8)
    this.#length = this.#buffer.writeBigUInt64LE(value, this.#length)
  }

  double(field: number, value: number): void {
    this.#tag(field, 1)
    this.#reserve(8)
    this.#length = this.#buffer.writeDoubleLE(value, this.#length)
  }

  string(field: number, value: string): void {
    const bytes = Buffer.byteLength(value)
    this.#tag(field, 2)
    this.#varint(bytes)
    this.#reserve(bytes)
    this.#length += this.#buffer.write(value, this.#length, 'utf8')
  }

  /** Writes bytes that are given as hex digits. */
  hex(field: number, value: string): void {
    const bytes = value.length / 2
    this.#tag(field, 2)
    this.#varint(bytes)
    this.#reserve(bytes)
    this.#length += this.#buffer.write(value, this.#length, 'hex')
  }

  /** An embedded message. Its length comes first but is known last, so one byte is reserved and the content is moved if the length needs more. */
  message(field: number, write: (writer: ProtobufWriter) => void): void {
    this.#tag(field, 2)
    this.#reserve(1)
    const start = ++this.#length
    write(this)
    const size = this.#length - start
    let extra = 0
    for (let rest = size; rest > 0x7f; rest = Math.floor(rest / 128)) extra++
    if (extra > 0) {
      this.#reserve(extra)
      this.#buffer.copyWithin(start + extra, start, this.#length)
    }
    this.#length = start - 1
    this.#varint(size)
    this.#length = start + extra + size
  }
}
