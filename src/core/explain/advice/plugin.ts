import type { Advice } from '../rule.js'

export const pluginAdvice: Advice[] = []
