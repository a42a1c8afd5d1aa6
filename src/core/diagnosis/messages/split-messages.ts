/**
 * Parts a paste or a piece of a journal into its messages, one a line. What klog writes over several lines (`err=<`, the
 * lines after it, ` >`) stays one message; so do lines that kubectl broke and that go on indented with a tab.
 */
export const splitMessages = (text: string): string[] => {
  const messages: string[] = []
  let open = false
  for (const line of text.split(/\r?\n/)) {
    const last = messages.at(-1)
    const goesOn = open || line.startsWith('\t')
    if (goesOn && last !== undefined) messages[messages.length - 1] = `${last}\n${line}`
    else if (line.trim() !== '') messages.push(line)
    if (/=<\s{0,8}$/.test(line)) open = true
    else if (/(?:^|[\t :]) ?>(?: \S{1,300}){0,8}\s{0,8}$/.test(line.slice(-400))) open = false
  }
  return messages
}
