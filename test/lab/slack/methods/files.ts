import { isFields, missing } from '../args.js'
import type { Method } from '../parts.js'
import { SlackError } from '../types.js'
import { writableChannel } from './channels.js'

const getUploadUrl: Method = (args, { uploads, url }) => {
  const { id, path } = uploads.reserve(args.required('filename'), args.number('length', 0))
  return { upload_url: `${url()}${path}`, file_id: id }
}

const complete: Method = (args, { uploads, workspace, url }) => {
  const value = args.json('files', 'invalid_arguments')
  if (!Array.isArray(value) || value.length === 0) throw missing('files')
  const files = value.filter(isFields).map(each => ({
    id: String(each.id),
    ...(typeof each.title === 'string' ? { title: each.title } : {}),
  }))
  const channel = args.has('channel_id') ? writableChannel(workspace, args, 'channel_id') : undefined
  const text = args.text('initial_comment') ?? ''
  const share =
    channel === undefined ? undefined : { channel: channel.id, thread_ts: args.text('thread_ts'), text }
  return { files: uploads.complete(files, share, url()) }
}

const info: Method = (args, { workspace }) => {
  const found = workspace.files.get(args.required('file'))
  if (found === undefined) throw new SlackError('file_not_found')
  return { file: found.file }
}

export const files: Record<string, Method> = {
  'files.getUploadURLExternal': getUploadUrl,
  'files.completeUploadExternal': complete,
  'files.info': info,
}
