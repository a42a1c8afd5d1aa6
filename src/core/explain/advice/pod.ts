import type { Advice } from '../rule.js'
import { nodeAdvice } from './pod-node.js'
import { placementAdvice } from './pod-placement.js'
import { volumeAdvice } from './pod-volume.js'

export const podAdvice: Advice[] = [...volumeAdvice, ...nodeAdvice, ...placementAdvice]
