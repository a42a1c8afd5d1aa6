import type { KnownBlock, ModalView } from '@slack/types'

// Messages as an incident bot would write them, to look at: each uses blocks that another test of the page does not.

interface Written {
  text: string
  blocks: KnownBlock[]
}

const mrkdwn = (text: string) => ({ type: 'mrkdwn' as const, text })
const plain = (text: string) => ({ type: 'plain_text' as const, text })
const section = (text: string): KnownBlock => ({ type: 'section', text: mrkdwn(text) })

export const head: Written = {
  text: 'node-07 cannot give new Pods an address',
  blocks: [
    section(
      ':red_circle: *node-07 cannot give new Pods an address* · prod-eu1\n212 addresses are held by sandboxes that no longer exist. The node is Ready and looks empty (43 of 110 Pods), so the scheduler keeps choosing it.\n*Waiting for an approver* (<!subteam^SSREONCALL>): cordon it now, then choose a repair.',
    ),
    {
      type: 'actions',
      elements: [
        {
          type: 'button',
          action_id: 'cordon',
          style: 'primary',
          text: plain('Cordon node-07'),
          value: 'inc-1',
        },
        { type: 'button', action_id: 'compare', text: plain('Compare repairs'), value: 'inc-1' },
        { type: 'button', action_id: 'escalate', text: plain('Escalate'), value: 'inc-1' },
      ],
    },
    { type: 'context', elements: [mrkdwn('4 tickets in 25 hours · noticed 11:30:52')] },
  ],
}

export const tickets: Written = {
  text: 'Tickets on node-07',
  blocks: [
    {
      type: 'rich_text',
      elements: [
        {
          type: 'rich_text_section',
          elements: [
            { type: 'text', text: 'Tickets on node-07', style: { bold: true } },
            { type: 'text', text: ' (oldest first)' },
          ],
        },
        {
          type: 'rich_text_list',
          style: 'ordered',
          elements: [
            'Tue 10:40 · payments/api (Deployment) · 31 min · deleted, its replacement started on node-04 in 4 s',
            'Tue 16:15 · search/query (Deployment) · 12 min · deleted, started on node-11 at once',
            'Wed 11:30 · platform/node-exporter (DaemonSet) · 17 of 18, still stuck: a DaemonSet cannot move',
          ].map(text => ({
            type: 'rich_text_section' as const,
            elements: [{ type: 'text' as const, text }],
          })),
        },
      ],
    },
  ],
}

const rows = [
  ['Node', 'Addresses', 'Sandboxes', 'Without'],
  ['node-07', '253', '41', '212'],
  ['node-04', '39', '37', '0'],
  ['node-11', '52', '50', '0'],
]

export const evidence: Written = {
  text: 'Evidence, Wed 11:31:07',
  blocks: [
    { type: 'header', text: plain('Evidence, Wed 11:31:07') },
    {
      type: 'section',
      fields: [
        mrkdwn('*Addresses*\n253 of 253 in 10.244.7.0/24'),
        mrkdwn('*Sandboxes*\n44, with an address 41 · *without a sandbox: 212*'),
      ],
    },
    {
      type: 'table',
      column_settings: [{ align: 'left' }, { align: 'right' }, { align: 'right' }, { align: 'right' }],
      rows: rows.map(row => row.map(text => ({ type: 'raw_text' as const, text }))),
    },
    {
      type: 'rich_text',
      elements: [
        {
          type: 'rich_text_preformatted',
          elements: [
            {
              type: 'text',
              text: 'failed to allocate for range 0: no IP addresses available in range set: 10.244.7.1-10.244.7.254',
            },
          ],
        },
      ],
    },
    { type: 'divider' },
    {
      type: 'context',
      elements: [
        mrkdwn('one read-only connection, 0.9 s · `crictl pods -o json` · containerd restarted 02:13'),
      ],
    },
  ],
}

export const plan: Written = {
  text: 'Approve: remove 212 addresses on node-07',
  blocks: [
    section(
      '*Approve: remove 212 addresses on node-07*\nplan `7f3a·91c2` · read 11:33:02 · expires 12:03\n> Moves them to /var/lib/cni/cnibot-quarantine first.\n```sudo -n /usr/local/lib/cnibot/remove-orphans --plan 7f3a```',
    ),
    {
      type: 'actions',
      elements: [
        {
          type: 'button',
          action_id: 'approve',
          style: 'primary',
          text: plain('Approve'),
          value: 'run-1:7f3a',
          confirm: {
            title: plain('Remove 212 addresses?'),
            text: mrkdwn('On *node-07*, plan `7f3a·91c2`. 41 living addresses stay.'),
            confirm: plain('Approve'),
            deny: plain('Not now'),
          },
        },
        { type: 'button', action_id: 'refuse', style: 'danger', text: plain('Refuse'), value: 'run-1:7f3a' },
        { type: 'button', action_id: 'hold', text: plain('Hold'), value: 'run-1' },
      ],
    },
  ],
}

export const holdModal: ModalView = {
  type: 'modal',
  callback_id: 'hold',
  title: plain('Hold node-07'),
  submit: plain('Hold'),
  blocks: [
    section('The node stays cordoned until somebody lifts the hold.'),
    {
      type: 'input',
      block_id: 'why',
      label: plain('Why, and until when'),
      element: { type: 'plain_text_input', action_id: 'text', multiline: true },
    },
    {
      type: 'input',
      block_id: 'known',
      optional: true,
      label: plain('Known to the team'),
      element: {
        type: 'checkboxes',
        action_id: 'ticked',
        options: [
          { text: plain('No new Pods until then'), value: 'no-pods' },
          { text: plain('The DaemonSet stays at 17 of 18'), value: 'daemonset' },
        ],
      },
    },
  ],
}
