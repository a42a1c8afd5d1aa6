import { readdirSync, readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { loadNetwork, storeFolder } from './conflist.js'
import type { Allocation } from './model.js'

/** The plugin's address files in the network of the conflist; none where that does not load. */
export const readAllocations = (root: string): Allocation[] => {
  const network = loadNetwork(root)
  if (network === undefined) return []
  const folder = storeFolder(root, network)
  return namesIn(folder).flatMap(address => (isIP(address) === 0 ? [] : readOne(folder, address)))
}

/** Empty when the file is taken away meanwhile. */
const readOne = (folder: string, address: string): Allocation[] => {
  try {
    const path = join(folder, address)
    const [owner = '', ifname = ''] = readFileSync(path, 'utf8').split('\r\n')
    return [{ address, owner, ifname, modified: Math.round(statSync(path).mtimeMs) }]
  } catch {
    return []
  }
}

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
