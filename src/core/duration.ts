import { z } from 'zod'

const unit = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** `250ms`, `30s`, `15m`, `24h`, `7d` → milliseconds. */
export const duration = z
  .string()
  .regex(/^\d+(ms|s|m|h|d)$/, 'a duration such as 30s, 15m, 24h or 7d')
  .transform(text => Number.parseInt(text, 10) * unit[text.replace(/^\d+/, '') as keyof typeof unit])

/** Milliseconds → the two largest units: `31 min`, `1 h 4 min`, `15 d`, `0.9 s`. */
export const shownDuration = (ms: number): string => {
  const s = ms / 1_000
  if (s < 10) return `${Math.max(0, Math.round(s * 10) / 10)} s`
  if (s < 90) return `${Math.round(s)} s`
  const m = Math.round(s / 60)
  if (m < 60) return `${m} min`
  const h = Math.floor(m / 60)
  if (h < 48) return m % 60 === 0 ? `${h} h` : `${h} h ${m % 60} min`
  const d = Math.floor(h / 24)
  return h % 24 === 0 || d >= 7 ? `${d} d` : `${d} d ${h % 24} h`
}
