import type { Audit, Log } from './ports.js'

/**
 * Writes the chain's head into the log whenever it has moved. The log is kept elsewhere than the chain: a head from it,
 * given to `cnibot audit verify --head`, shows an end that was cut off or a record that was written anew.
 */
export const tellHead = (audit: Pick<Audit, 'head'>, log: Log): (() => Promise<void>) => {
  let told: string | undefined
  return async () => {
    const head = await audit.head()
    if (head === undefined || head.hash === told) return
    log.info({ audit: { entries: head.n, head: head.hash } }, 'head of the audit record')
    told = head.hash
  }
}
