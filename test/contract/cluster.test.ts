import { clusterContract } from './cluster.js'
import { apiWorlds } from './cluster-api-world.js'
import { fakeWorld } from './cluster-fake-world.js'

describe('cluster in memory', () => {
  clusterContract(async () => fakeWorld())
})

describe('cluster over an API server', () => {
  const worlds = apiWorlds()
  afterEach(() => worlds.close())
  clusterContract(() => worlds.start())
})
