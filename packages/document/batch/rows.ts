/**
 * Rows of bytes, all of the same width, in a table that grows without being copied. Rows are read
 * in place, because a view of each, a hundred bytes that live for a moment, would cost more than
 * the row.
 */
export type Rows = {
  readonly length: number
  /** @param row A row, which is copied. */
  push(row: Uint8Array): void
  /** @returns A view of the row. */
  at(index: number): Uint8Array
  /** Copies the row to the beginning of `out`. */
  copyTo(index: number, out: Uint8Array): void
  /**
   * Compares the row with a key in the order of {@link compareBytes}, up to the length of the key.
   */
  compareWith(index: number, key: Uint8Array): number
  /** Compares two rows in their first bytes; absent = in all bytes. */
  compare(a: number, b: number, bytes?: number): number
}

/** The number is small, so that the unused rest of the last part is small too. */
const ROWS_A_PART = 2048

export function createRows(width: number): Rows {
  const parts: Uint8Array[] = []
  let length = 0
  const partOf = (index: number) => parts[Math.floor(index / ROWS_A_PART)] as Uint8Array
  const offsetOf = (index: number) => (index % ROWS_A_PART) * width

  return {
    get length() {
      return length
    },
    push(row) {
      if (row.length !== width) throw new TypeError(`a row must have ${width} bytes`)
      if (length % ROWS_A_PART === 0) parts.push(new Uint8Array(ROWS_A_PART * width))
      partOf(length).set(row, offsetOf(length))
      length++
    },
    at(index) {
      const offset = offsetOf(index)
      return partOf(index).subarray(offset, offset + width)
    },
    copyTo(index, out) {
      const [part, offset] = [partOf(index), offsetOf(index)]
      for (let i = 0; i < width; i++) out[i] = part[offset + i] as number
    },
    compareWith: (index, key) => compareAt(partOf(index), offsetOf(index), key, 0, key.length),
    compare: (a, b, bytes = width) =>
      compareAt(partOf(a), offsetOf(a), partOf(b), offsetOf(b), bytes),
  }
}

/** The number of rows that a sort places in one step, which takes some milliseconds. */
const PLACED_A_STEP = 32_768

/** Lets other work have its turn. */
export const pause = () => new Promise<void>((resolve) => setTimeout(resolve))

/**
 * @returns The indices of the rows in ascending order of the rows. Lets other work have its turn.
 */
export function sortRows({ length, compare }: Rows): Promise<Uint32Array> {
  const order = new Uint32Array(length)
  for (let i = 0; i < length; i++) order[i] = i
  return mergeSort(order, compare)
}

/** Same as `items.sort(compare)`, which takes four times the memory, but in steps. */
async function mergeSort(
  items: Uint32Array<ArrayBuffer>,
  compare: (a: number, b: number) => number,
): Promise<Uint32Array> {
  let placed = 0
  let [from, to] = [items, new Uint32Array(items.length)]
  for (let run = 1; run < items.length; run *= 2) {
    for (let start = 0; start < items.length; start += 2 * run) {
      const middle = Math.min(start + run, items.length)
      const end = Math.min(middle + run, items.length)
      let [left, right] = [start, middle]
      for (let at = start; at < end; at++) {
        const takeLeft =
          right === end ||
          (left < middle && compare(from[left] as number, from[right] as number) <= 0)
        to[at] = from[takeLeft ? left++ : right++] as number
        if (++placed % PLACED_A_STEP === 0) await pause()
      }
    }
    ;[from, to] = [to, from]
  }
  return from
}

/**
 * @returns A negative number, 0 or a positive number, comparing the bytes as big-endian numbers of
 * the same length.
 */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return compareAt(a, 0, b, 0, a.length)
}

function compareAt(
  a: Uint8Array,
  aOffset: number,
  b: Uint8Array,
  bOffset: number,
  bytes: number,
): number {
  for (let i = 0; i < bytes; i++) {
    const difference = (a[aOffset + i] as number) - (b[bOffset + i] as number)
    if (difference !== 0) return difference
  }
  return 0
}
