import type { Advice } from '../rule.js'
import { filteredAdvice, mtuAdvice } from './dataplane-filters.js'
import { routeAdvice } from './dataplane-routes.js'
import { endpointsAdvice, listeningAdvice } from './dataplane-services.js'
import { staleAdvice } from './dataplane-stale.js'

export const dataplaneAdvice: Advice[] = [
  ...routeAdvice,
  ...filteredAdvice,
  ...mtuAdvice,
  ...staleAdvice,
  ...endpointsAdvice,
  ...listeningAdvice,
]
