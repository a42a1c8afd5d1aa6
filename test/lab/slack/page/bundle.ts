import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build, stop } from 'esbuild'

export interface PageAssets {
  js: string
  css: string
}

let assets: Promise<PageAssets> | undefined

/** Built on first use, once in a process. The page is `page.tsx` in the source tree and `page.js` after a build. */
export function pageAssets(): Promise<PageAssets> {
  assets ??= bundle()
  return assets
}

async function bundle(): Promise<PageAssets> {
  const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
  const source = here('./page.tsx')
  const result = await build({
    entryPoints: { page: existsSync(source) ? source : here('./page.js'), style: here('./style.css') },
    bundle: true,
    write: false,
    outdir: here('./out'),
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    minify: true,
    sourcemap: false,
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'silent',
  })
  // The bundler keeps a process of its own for the next build: there is none.
  await stop()
  const textOf = (ending: string): string =>
    result.outputFiles.find(file => file.path.endsWith(ending))?.text ?? ''
  return { js: textOf('page.js'), css: textOf('style.css') }
}
