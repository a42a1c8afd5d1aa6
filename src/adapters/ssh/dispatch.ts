import { plain } from '../../core/evidence/parse/text.js'
import type { CommandResult } from '../../ports.js'

/**
 * Installed mode: why the forced command let nothing run, in the node's own words, or undefined where the script ran.
 * dispatch.sh says it with 77 and 78; a login without a forced command knows no command of that name.
 */
export const whyNotStarted = ({
  exitCode,
  stdout,
  stderr,
}: Pick<CommandResult, 'exitCode' | 'stdout' | 'stderr'>): string | undefined => {
  if (stdout !== '') return undefined
  const said = plain(stderr.trim().split('\n').at(-1) ?? '')
  if ((exitCode === 77 || exitCode === 78) && said.startsWith('dispatch: '))
    return `nothing was run: ${said.slice('dispatch: '.length)}`
  if (exitCode === 127 && said.startsWith('timeout: ')) return `nothing was run: ${said}; install sudo there`
  if (exitCode === 127)
    return `nothing was run: the login has no forced command (${said}); run install-node.sh there, or set CNIBOT_SSH_MODE=sent`
  return undefined
}
