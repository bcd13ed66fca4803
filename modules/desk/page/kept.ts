/**
 * What a person has typed survives a reload in this tab, and nothing else: names are personal, so
 * they are in no storage that another tab, or the next person at a shared desk, can read. What a
 * person asks this browser to keep is in remembered.ts.
 */
const PREFIX = 'document-registry.desk.'

/** @returns Whether it could be kept. The browser's storage may be off or full. */
export function keep(name: string, value: unknown): boolean {
  try {
    sessionStorage.setItem(PREFIX + name, JSON.stringify(value))
    return true
  } catch {
    forget(name)
    return false
  }
}

export function kept<T>(name: string): T | undefined {
  try {
    const text = sessionStorage.getItem(PREFIX + name)
    return text === null ? undefined : (JSON.parse(text) as T)
  } catch {
    return undefined
  }
}

export function forget(name: string): void {
  try {
    sessionStorage.removeItem(PREFIX + name)
  } catch {
    // The browser has no storage.
  }
}

/** For a person who signs out, or another one who signs in. */
export function forgetAll(): void {
  try {
    for (const key of Object.keys(sessionStorage))
      if (key.startsWith(PREFIX)) sessionStorage.removeItem(key)
  } catch {
    // The browser has no storage.
  }
}
