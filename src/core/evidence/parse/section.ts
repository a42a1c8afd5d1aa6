import { plain } from './text.js'
import type { Section } from './frames.js'

/** What came back of the whole probe; a command's result has this shape. */
export interface ProbeOutput {
  stdout: string
  stderr: string
  exitCode: number | undefined
  timedOut: boolean
  truncated: boolean
}

/** Why sections can be missing from this answer, and what to do. */
export const whyCut = (output: ProbeOutput): string => {
  const said = plain(output.stderr.trim().split('\n').at(-1) ?? '')
  if (output.timedOut) return 'the node did not finish answering in time; ask again, or raise the time limit'
  if (said.startsWith('sudo: ')) return `sudo refused on the node (${said}); allow the probe in sudoers`
  if (output.exitCode === 124) return 'the probe ran into its time limit on the node; ask again'
  if (output.truncated) return 'the answer was cut before this part arrived; ask again'
  if (output.exitCode === undefined) return 'the connection ended before this part arrived; ask again'
  const code = `the probe ended early with exit code ${output.exitCode}`
  return said === '' ? code : `${code}: ${said}`
}

/** The probe's own code for a section that this look leaves out. */
const notAsked = 200

/** One line for a section that arrived and failed: what was asked, what came back, what to do. */
export const whyFailed = (asked: string, section: Section): string => {
  const said = plain(section.said)
  if (section.code === notAsked) return `${asked}: ${said}`
  if (/(?:^|: )sudo: /.test(said) || said.startsWith('sudo:')) {
    return `${asked}: sudo refused on the node (${said}); allow this command for the probe's user in sudoers`
  }
  if (section.code === 124 || section.code === 137) {
    return `${asked}: no answer within the time limit on the node; look at the node, then ask again`
  }
  if (section.code === 127 || said.includes('is not installed')) {
    return `${asked}: ${said === '' ? 'a program is missing on the node' : said}; install it there`
  }
  return `${asked}: ${said === '' ? `exit code ${section.code}` : said}`
}
