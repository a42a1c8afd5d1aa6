/** Quotes one argument for a POSIX shell; plain ones stay as they are, so that people can read the line. */
export const quote = (argument: string): string =>
  /^[A-Za-z0-9_@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`

/** The one string that is shown to people and run on the node. */
export const commandLine = (argv: readonly string[]): string => argv.map(quote).join(' ')
