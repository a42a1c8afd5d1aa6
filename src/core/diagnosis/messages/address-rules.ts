import type { MessageRule } from './message-rule.js'

/** host-local since 0.6 names the ranges, before that the network; the dual-stack one says which set. */
const exhaustion: MessageRule = {
  code: 'IPAM_EXHAUSTED_HOSTLOCAL',
  kind: 'exhausted',
  when: /no ip addresses available in (?:range set\b|network: ?[\w.-])/,
  causes: ['ipam-leak', 'ipam-full-no-leak'],
  operation: 'add',
  says: 'The plugin runs and answers: it has no address left to give.',
}

/** Address managers: what each says when it has nothing to give, or refuses one address. */
export const addressRules: MessageRule[] = [
  exhaustion,
  {
    code: 'IPAM_DUPLICATE_ALLOCATION',
    kind: 'other-ipam',
    when: /duplicate allocation is not allowed/,
    causes: ['ipam-leak', 'other'],
    operation: 'add',
    says: 'The same owner asked twice without giving back; the range is not full.',
  },
  {
    code: 'IPAM_REQUESTED_IP_TAKEN',
    kind: 'other-ipam',
    when: /requested ip address \S{1,60} is not available in range set/,
    causes: ['ipam-leak', 'other'],
    operation: 'add',
    says: 'A fixed address was asked for that another owner holds.',
  },
  {
    code: 'IPAM_EXHAUSTED_AWS',
    kind: 'other-ipam',
    when: /failed to assign an ip address to container|datastore has no available ip|insufficientfreeaddressesinsubnet|insufficientcidrblocks/,
    causes: ['ipam-full-no-leak', 'ipam-leak'],
    says: 'The AWS address manager has none to give: subnet, interface or warm pool.',
  },
  {
    code: 'IPAM_EXHAUSTED_CALICO',
    kind: 'other-ipam',
    when: /assigned 0 out of \d{1,4} requested ipv|no more free affine blocks|limit of \d{1,4} blocks|pools are likely exhausted|no configured calico pools/,
    causes: ['ipam-full-no-leak', 'ipam-leak'],
    says: "Calico's address pool has none to give.",
  },
  {
    code: 'IPAM_EXHAUSTED_CILIUM',
    kind: 'other-ipam',
    when: /postipamfailure|\brange is full|no more ips available|no available ips? for (?:allocation|pod)/,
    causes: ['ipam-full-no-leak', 'ipam-leak'],
    says: "Cilium's address range has none to give.",
  },
  {
    code: 'IPAM_EXHAUSTED_WHEREABOUTS',
    kind: 'other-ipam',
    when: /could not allocate ip in range/,
    causes: ['ipam-leak', 'ipam-full-no-leak'],
    says: 'The whereabouts pool has none to give.',
  },
  {
    code: 'IPAM_EXHAUSTED_AZURE',
    kind: 'other-ipam',
    when: /no available address(?:es\b| pools)|not enough ips available/,
    causes: ['ipam-full-no-leak', 'ipam-leak'],
    says: 'The Azure address manager has none to give.',
  },
  {
    code: 'IPAM_DEL_NOT_FOUND',
    kind: 'teardown',
    when: /did not find reserved ip for container|error deallocating ip:/,
    causes: ['cni-del-failing'],
    operation: 'del',
    says: 'The address manager holds no reservation for this sandbox, and refuses its teardown over that.',
  },
  {
    code: 'DEL_IGNORED',
    kind: 'teardown',
    when: /ignoring because the sandbox network setup result is nil/,
    causes: ['ipam-leak'],
    operation: 'del',
    says: 'The runtime gave up a teardown that failed, because the setup had never been completed.',
  },
  {
    code: 'ADDRESS_DUPLICATE',
    kind: 'dataplane',
    when: /duplicate (?:ip(?:v[46])? )?address[^\n]{0,80}detected|dad failed|duplicate address detection failed|ip(?:v[46])? address conflict|ip conflict detected/,
    causes: ['duplicate-ip'],
    says: 'Two hosts answer for one address.',
  },
]
