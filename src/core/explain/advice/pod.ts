import type { Advice } from '../rule.js'

export const podAdvice: Advice[] = []
