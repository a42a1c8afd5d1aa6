import type { ReactNode } from 'react'
import { Message as Kept, type Block as KeptBlock } from 'slack-blocks-to-jsx'
import type { Block, Fields } from '../types.js'
import { Element } from './elements.js'
import { Emoji } from './emoji.js'
import { fieldsOf, listOf, textOf } from './fields.js'
import { Input } from './inputs.js'
import { safeHref, TextObject } from './mrkdwn.js'
import { useSession } from './session.js'

export function Blocks({ blocks }: { blocks: Block[] }): ReactNode {
  return (
    <div className="blocks">
      {blocks.map((block, at) => (
        <div key={block.block_id ?? at} className={`block block-${block.type}`} data-block-type={block.type}>
          <OneBlock block={block} />
        </div>
      ))}
    </div>
  )
}

function OneBlock({ block }: { block: Block }): ReactNode {
  switch (block.type) {
    case 'header':
      return (
        <h3>
          <TextObject value={block.text} />
        </h3>
      )
    case 'divider':
      return <hr />
    case 'section':
      return <Section block={block} />
    case 'context':
      return listOf(block.elements).map((element, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: elements have no other identity
        <span key={at} className="context-element">
          {element.type === 'image' ? <Picture element={element} /> : <TextObject value={element} />}
        </span>
      ))
    case 'actions':
      return listOf(block.elements).map(element => (
        <Element key={textOf(element.action_id)} element={element} blockId={textOf(block.block_id)} />
      ))
    case 'input':
      return <Input block={block} />
    case 'table':
      return <Table block={block} />
    default:
      return <KeptRenderer block={block} />
  }
}

function Section({ block }: { block: Block }): ReactNode {
  return (
    <>
      <div className="section-body">
        {block.text !== undefined && <TextObject value={block.text} />}
        {block.fields !== undefined && (
          <div className="fields">
            {listOf(block.fields).map((field, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: fields have no other identity
              <div key={at} className="field">
                <TextObject value={field} />
              </div>
            ))}
          </div>
        )}
      </div>
      {block.accessory !== undefined && (
        <div className="accessory">
          <Element element={fieldsOf(block.accessory)} blockId={textOf(block.block_id)} />
        </div>
      )}
    </>
  )
}

const Picture = ({ element }: { element: Fields }): ReactNode => (
  // The page loads nothing from elsewhere: a picture is shown by its description.
  <span className="picture">{textOf(element.alt_text)}</span>
)

function Table({ block }: { block: Block }): ReactNode {
  const columns = listOf(block.column_settings)
  const rows = Array.isArray(block.rows) ? (block.rows as unknown[]).map(listOf) : []
  const [head = [], ...body] = rows
  const cell = (value: Fields, at: number): { className: string; children: ReactNode } => ({
    className: `${textOf(columns[at]?.align) || 'left'} ${columns[at]?.is_wrapped === true ? 'wrapped' : ''}`,
    children:
      value.type === 'rich_text' ? (
        <KeptRenderer block={value as Block} />
      ) : (
        <TextObject value={{ type: 'plain_text', text: textOf(value.text) || textOf(value.value) }} />
      ),
  })
  return (
    <div className="table-frame">
      <table>
        <thead>
          <tr>
            {head.map((value, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: cells have no other identity
              <th key={at} {...cell(value, at)} />
            ))}
          </tr>
        </thead>
        <tbody>
          {body.map((row, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other identity
            <tr key={n}>
              {row.map((value, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: cells have no other identity
                <td key={at} {...cell(value, at)} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Rich text, and block types this page does not draw itself. */
function KeptRenderer({ block }: { block: Block }): ReactNode {
  const { world } = useSession()
  const users = world.users.map(user => ({ id: user.id, name: user.real_name }))
  const channels = world.channels.map(({ id, name }) => ({ id, name }))
  const user_groups = world.groups.map(({ id, name, handle }) => ({ id, name, handle }))
  return (
    <Kept
      blocks={[block as KeptBlock]}
      name=""
      logo=""
      withoutWrapper
      data={{ users, channels, user_groups }}
      hooks={{
        emoji: emoji => <Emoji code={emoji.name} />,
        link: ({ href, children }) =>
          safeHref(href) === undefined ? (
            <span>{children}</span>
          ) : (
            <a href={href} target="_blank" rel="noreferrer noopener">
              {children}
            </a>
          ),
      }}
    />
  )
}
