import { authRules } from '../../../src/core/explain/rules/plugin-auth.js'
import { eachRow, event, foreignAuthority, journal, ran, type Row, unauthorized } from './plugin-seen.js'

const credentials: Row[] = [
  ['plugin-credential-refused', 'a token', event(unauthorized), ['cni-auth proves']],
  [
    'plugin-credential-refused',
    'another authority',
    event(foreignAuthority),
    ['cni-auth supports', 'cni-config-wrong hints'],
  ],
  [
    'plugin-credential-refused',
    'and nothing of that network runs',
    { ...event(foreignAuthority), ...ran('kubectl get pods -A | grep -i calico') },
    ['cni-auth supports supports', 'cni-config-wrong supports'],
  ],
  ['plugin-credential-refused', 'by a registry', event('Failed to pull image "a/b:1": 401 Unauthorized'), []],
  [
    'agent-credential-refused',
    'its own token',
    { agent_logs: ['[ERROR] Unable to create token for CNI kubeconfig error=Unauthorized'] },
    ['cni-auth supports'],
  ],
  [
    'agent-credential-refused',
    'a time-out',
    { agent_logs: ['[ERROR] dial tcp 10.96.0.1:443: i/o timeout'] },
    [],
  ],
  [
    'cloud-role-refused',
    'an interface',
    {
      agent_logs: [
        'ipamd: failed to create ENI: UnauthorizedOperation: You are not authorized to perform this operation',
      ],
    },
    ['cni-auth supports'],
  ],
  ['cloud-role-refused', 'a bucket', { agent_logs: ['AccessDenied: cannot read the bucket'] }, []],
  [
    'clock-differs',
    'beside a refusal',
    { ...event(unauthorized), ...ran('timedatectl'), ...journal('systemd[1]: Time has been changed') },
    ['cni-auth hints'],
  ],
  ['clock-differs', 'alone', journal('systemd[1]: Time has been changed'), []],
]

describe('P-R3 what each rule on credentials says', () => {
  eachRow(authRules, credentials)
})
