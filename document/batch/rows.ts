/**
 * Rows of bytes, all of one width: a table that grows without being copied, 16,384 rows at a time.
 */
export type Rows = {
  readonly length: number
  /** @returns A view of a new row, to be filled. */
  add(): Uint8Array
  /** @returns A view of the row. */
  at(index: number): Uint8Array
}

const ROWS_A_PART = 16_384

export function createRows(width: number): Rows {
  const parts: Uint8Array[] = []
  let length = 0
  function at(index: number): Uint8Array {
    const part = parts[Math.floor(index / ROWS_A_PART)] as Uint8Array
    const start = (index % ROWS_A_PART) * width
    return part.subarray(start, start + width)
  }
  return {
    get length() {
      return length
    },
    add() {
      if (length % ROWS_A_PART === 0)
        parts.push(new Uint8Array(ROWS_A_PART * width))
      return at(length++)
    },
    at,
  }
}

/**
 * @param keyAt The key of each of `length` things, at least 4 bytes, all of one length.
 * @returns Their indices, by ascending key.
 */
export function sortByKey(
  length: number,
  keyAt: (index: number) => Uint8Array,
): Uint32Array {
  // Keys are hashes: the first four bytes nearly always decide, and are compared without looking at
  // the others.
  const starts = new Uint32Array(length)
  const order = new Uint32Array(length)
  for (let i = 0; i < length; i++) {
    const key = keyAt(i)
    starts[i] = new DataView(key.buffer, key.byteOffset).getUint32(0)
    order[i] = i
  }
  return mergeSort(
    order,
    (a, b) =>
      (starts[a] as number) - (starts[b] as number) ||
      compareBytes(keyAt(a), keyAt(b)),
  )
}

/** As `items.sort(compare)`, which takes four times the memory. */
function mergeSort(
  items: Uint32Array<ArrayBuffer>,
  compare: (a: number, b: number) => number,
): Uint32Array {
  let [from, to] = [items, new Uint32Array(items.length)]
  for (let run = 1; run < items.length; run *= 2) {
    for (let start = 0; start < items.length; start += 2 * run) {
      const middle = Math.min(start + run, items.length)
      const end = Math.min(middle + run, items.length)
      let [left, right] = [start, middle]
      for (let at = start; at < end; at++) {
        const takeLeft =
          right === end ||
          (left < middle &&
            compare(from[left] as number, from[right] as number) <= 0)
        to[at] = from[takeLeft ? left++ : right++] as number
      }
    }
    ;[from, to] = [to, from]
  }
  return from
}

/** @returns Negative, 0 or positive: as big-endian numbers of the same length. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < a.length; i++) {
    const difference = (a[i] as number) - (b[i] as number)
    if (difference !== 0) return difference
  }
  return 0
}
