import { settings } from './list.js'
import type { Setting } from './value.js'

/** The page about settings, in Markdown, from the list that reads them. */
export const settingsReference = (): string =>
  [
    '# Settings',
    '',
    '<!-- Written by `npm run docs` from src/settings; edits here are lost. -->',
    '',
    'Settings are environment variables. A process names everything that is wrong with them at once and ends with exit code 2;',
    'an empty variable counts as not set. In the chart, each is a key of `settings`, `bot.settings` or `worker.settings`.',
    '',
    '| Variable | Read by | Default | Means |',
    '|---|---|---|---|',
    ...Object.values<Setting>(settings).map(one => {
      const need = one.schema.safeParse(undefined).success ? '' : 'required'
      const value = one.default === undefined ? need : one.default === '' ? 'empty' : `\`${one.default}\``
      const secret = one.secret === undefined ? '' : ' (secret)'
      return `| \`${one.env}\` | ${one.roles.join(', ')} | ${value} | ${escaped(one.means)}${secret} |`
    }),
    '',
  ].join('\n')

const escaped = (text: string): string =>
  text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
