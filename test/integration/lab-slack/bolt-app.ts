import { App, LogLevel } from '@slack/bolt'
import { WebClient } from '@slack/web-api'
import type { LocalSlack } from '../../lab/slack/index.js'

/** A real Bolt app in Socket Mode; without waits between attempts, so that a refusal is seen at once. */
export async function startApp(slack: LocalSlack, register: (app: App) => void): Promise<App> {
  const app = new App({
    token: slack.botToken,
    appToken: slack.appToken,
    socketMode: true,
    deferInitialization: true,
    logLevel: LogLevel.ERROR,
    clientOptions: { slackApiUrl: slack.apiUrl, retryConfig: { retries: 0 } },
  })
  register(app)
  await app.init()
  await app.start()
  return app
}

export const webClient = (slack: LocalSlack, token: string = slack.botToken): WebClient =>
  new WebClient(token, {
    slackApiUrl: slack.apiUrl,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    logLevel: LogLevel.ERROR,
  })
