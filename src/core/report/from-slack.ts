// A link's or mention's inside; what Slack makes of text is never longer than this.
const marked = /<((?:https?:\/\/|mailto:|tel:|[@#!])[^<>|\s]{1,2000})(?:\|([^<>\n]{0,500}))?>/g

const unmarked = (_: string, target: string, label: string | undefined): string => {
  const sign = target.charAt(0)
  if (label === undefined || label === '') return target.replace(/^(?:mailto|tel):/, '')
  return '@#'.includes(sign) && !label.startsWith(sign) ? `${sign}${label}` : label
}

const fence = /^\s{0,8}```[a-z]{0,12}|```\s{0,8}$/gm
const wholeInTicks = /^`([^`]*)`$/
const quotedLine = /^> (?=\S)/gm

/**
 * What a person pasted, out of what Slack made of it: `&lt; &gt; &amp;` written out, links around hosts and addresses
 * undone, curly quotes and hard spaces straight again, code fences and the marks of a quotation taken off. Anything else
 * stays as it is, line by line.
 */
export const fromSlack = (text: string): string =>
  text
    .replace(marked, unmarked)
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&amp;/g, '&')
    .replace(/[“”„‟″]/g, '"')
    .replace(/[‘’‚‛′]/g, "'")
    .replace(/[\u00a0\u2007\u202f]/g, ' ')
    .replace(/[\u200b\u2060\ufeff]/g, '')
    .replace(fence, '')
    .replace(quotedLine, '')
    .trim()
    .replace(wholeInTicks, '$1')
    .trim()
