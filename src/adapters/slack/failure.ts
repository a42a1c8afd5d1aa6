import {
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebAPIRequestError,
} from '@slack/web-api'
import { Failed, Lost, Refused, Unreachable } from '../../ports.js'

/** Slack's own troubles: the call may or may not have been carried out. */
const passing = new Set([
  'fatal_error',
  'internal_error',
  'request_timeout',
  'service_unavailable',
  'accesslimited',
])

const codeOf = (error: unknown): string | undefined =>
  error instanceof WebAPIPlatformError ? error.data.error : undefined

/** Whether it is unknown if Slack did what was asked: a timeout, a reset, a 5xx. */
export const isAmbiguous = (error: unknown): boolean =>
  error instanceof WebAPIRequestError ||
  (error instanceof WebAPIHTTPError && error.statusCode >= 500) ||
  passing.has(codeOf(error) ?? '')

/** Seconds that Slack asks to wait; undefined for any other error. */
export const retryAfter = (error: unknown): number | undefined => {
  if (error instanceof WebAPIRateLimitedError) return error.retryAfter
  return codeOf(error) === 'ratelimited' ? 1 : undefined
}

export const isCode = (error: unknown, ...codes: string[]): boolean => codes.includes(codeOf(error) ?? '')

const advice: Record<string, string> = {
  channel_not_found: 'check CNIBOT_SLACK_CHANNEL and invite the bot to the channel',
  not_in_channel: 'invite the bot to the channel',
  is_archived: 'the channel is archived; choose another',
  is_inactive: 'the channel is archived; choose another',
  message_not_found: 'the message was deleted',
  cant_update_message: 'the message belongs to somebody else',
  edit_window_closed: 'the workspace allows no more edits of this message',
  thread_not_found: 'the message that carries the thread was deleted',
  missing_scope: 'install the app again with the shipped manifest',
  invalid_auth: 'check CNIBOT_SLACK_BOT_TOKEN',
  token_revoked: 'check CNIBOT_SLACK_BOT_TOKEN',
  account_inactive: 'the app was removed from the workspace; install it again',
}

const lost: Record<string, Lost['what']> = {
  message_not_found: 'message',
  thread_not_found: 'message',
  channel_not_found: 'channel',
  not_in_channel: 'channel',
  is_archived: 'channel',
  // What an edit is told where a post is told is_archived.
  is_inactive: 'channel',
}

const details = (error: WebAPIPlatformError): string => {
  const messages: unknown = error.data.response_metadata?.messages
  return Array.isArray(messages) ? messages.map(String).join('\n') : ''
}

/** What the caller should do about it, as one of the port's errors. `what` names the call: `post to C012`. */
export const asPortError = (error: unknown, what: string): Error => {
  if (error instanceof Refused || error instanceof Unreachable || error instanceof Failed) return error
  const wait = retryAfter(error)
  if (wait !== undefined)
    return new Unreachable(`Slack limits the rate: ${what} may be tried again in ${wait} s`)
  if (isAmbiguous(error)) {
    const why = error instanceof Error ? error.message : String(error)
    return new Unreachable(`Slack did not answer ${what}: ${why}`)
  }
  if (error instanceof WebAPIPlatformError) {
    const code = error.data.error
    const hint = advice[code]
    const said = `Slack refused ${what} (${code})${hint ? `: ${hint}` : ''}`
    const gone = lost[code]
    return gone ? new Lost(gone, said, details(error)) : new Failed(said, details(error))
  }
  if (error instanceof WebAPIHTTPError)
    return new Failed(`Slack answered ${what} with HTTP ${error.statusCode}: is CNIBOT_SLACK_API_URL right?`)
  return error instanceof Error ? error : new Failed(`${what}: ${String(error)}`)
}
