const units: Record<string, number> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 }

/** As kubectl prints it: `5m6s`, `2d`, `37m`, `136m`. Milliseconds, or nothing where it is none. */
export const readDuration = (text: string): number | undefined => {
  const parts = [...text.matchAll(/(\d{1,9})(ms|[dhms])/g)]
  if (parts.length === 0 || parts.map(part => part[0]).join('') !== text.replaceAll(/\s/g, ''))
    return undefined
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (units[unit ?? ''] ?? 0), 0)
}
