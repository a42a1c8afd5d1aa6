import type { Advice } from '../rule.js'

export const dataplaneAdvice: Advice[] = []
