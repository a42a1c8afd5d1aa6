import type { Advice } from '../rule.js'

export const addressesAdvice: Advice[] = []
