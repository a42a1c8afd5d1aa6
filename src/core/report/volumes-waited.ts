const listed = /\b(unmounted|unattached\/unmounted) volumes=\[([^\]\n]{0,2000})\]/gi

/**
 * Names under `unmounted volumes=`: those that are missing. `unattached volumes=` lists every volume of the Pod in newer
 * versions and says nothing about them.
 */
export const unmountedVolumes = (text: string): string[] =>
  [...text.slice(0, 8_192).matchAll(listed)].flatMap(match =>
    (match[2] ?? '').split(/[\s,]+/).filter(name => name !== ''),
  )

/** The volume a message names: `failed for volume "data"`. */
export const volumeNamed = (text: string): string | undefined =>
  /failed for volume \\{0,8}["'`]([^"'`\\\n]{1,253})/i.exec(text.slice(0, 8_192))?.[1]
