import { type ReactNode, useState } from 'react'
import type { SlackFile } from '../types.js'

const sizeOf = (bytes: number): string =>
  bytes < 1_000
    ? `${bytes} bytes`
    : bytes < 1_000_000
      ? `${(bytes / 1_000).toFixed(1)} kB`
      : `${(bytes / 1_000_000).toFixed(1)} MB`

export function FileCard({ file }: { file: SlackFile }): ReactNode {
  const [open, setOpen] = useState(false)
  const lines = (file.preview ?? '').split('\n')
  const shown = open ? lines : lines.slice(0, 6)
  return (
    <div className="file" data-testid="file" data-file-id={file.id}>
      <div className="file-head">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <path d="M7 3h12l7 7v19H7z" />
          <path className="fold" d="M19 3v7h7M11 16h10M11 20h10M11 24h6" />
        </svg>
        <div>
          <b>{file.title}</b>
          <small>
            {file.mimetype === 'text/plain' ? 'Plain text' : file.mimetype} · {sizeOf(file.size)}
            {file.lines !== undefined && ` · ${file.lines} lines`}
          </small>
        </div>
        <a className="button" href={new URL(file.url_private_download).pathname} download={file.name}>
          Download
        </a>
      </div>
      {file.preview !== undefined && <pre>{shown.join('\n')}</pre>}
      {lines.length > 6 && (
        <button type="button" className="link" onClick={() => setOpen(!open)}>
          {open ? 'Show less' : 'Show more'}
        </button>
      )}
    </div>
  )
}
