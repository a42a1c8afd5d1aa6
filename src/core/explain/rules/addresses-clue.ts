import type { Clue } from '../rule.js'

export const clue = (says: string, weight: Clue['weight']): Clue => ({ says, weight })
