import type { CauseRule } from '../rule.js'
import { filteredBetweenRules } from './dataplane/filtered-between.js'
import { filteredRules } from './dataplane/filtered.js'
import { listeningProbeRules } from './dataplane/listening-probe.js'
import { listeningRules } from './dataplane/listening.js'
import { mtuRules } from './dataplane/mtu.js'
import { routePeerRules } from './dataplane/routes-peers.js'
import { routeOwnRules } from './dataplane/routes-own.js'
import { routeRuleRules } from './dataplane/routes-rules.js'
import { routeTableRules } from './dataplane/routes.js'
import { serviceRules } from './dataplane/no-backends.js'
import { staleNodeRules } from './dataplane/stale-node.js'
import { staleServiceRules } from './dataplane/stale-service.js'
import { staleTunnelRules } from './dataplane/stale-tunnel.js'

/** Packets that do not arrive: no route, a filter, a size, an old state of the node, no backend, nobody who listens. */
export const dataplaneRules: CauseRule[] = [
  ...routeTableRules,
  ...routeOwnRules,
  ...routeRuleRules,
  ...routePeerRules,
  ...filteredRules,
  ...filteredBetweenRules,
  ...mtuRules,
  ...staleServiceRules,
  ...staleNodeRules,
  ...staleTunnelRules,
  ...serviceRules,
  ...listeningRules,
  ...listeningProbeRules,
]
