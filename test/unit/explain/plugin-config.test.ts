import { configRules } from '../../../src/core/explain/rules/plugin-config.js'
import { eachRow, event, journal, noSocket, ran, type Row, setup, uninitialized } from './plugin-seen.js'

const configuration: Row[] = [
  ['runtime-has-no-config', 'the node says so', uninitialized, ['cni-config-missing supports']],
  [
    'runtime-has-no-config',
    'and its directory is empty',
    { ...uninitialized, ...ran('ls /etc/cni/net.d') },
    ['cni-config-missing proves supports'],
  ],
  ['runtime-has-no-config', 'a plugin that fails is none of it', noSocket, []],
  [
    'config-directory-empty',
    'a renamed file is not read',
    ran('ls /etc/cni/net.d', '10-a.conflist.bak'),
    ['cni-config-missing supports'],
  ],
  ['config-directory-empty', 'a file is there', ran('ls /etc/cni/net.d', '10-a.conflist'), []],
  [
    'config-directory-empty',
    'the store of addresses is no such directory',
    ran('ls /var/lib/cni/networks/a', '10.1.0.2'),
    [],
  ],
  [
    'config-directory-empty',
    'the agent wrote elsewhere',
    {
      ...uninitialized,
      commands: [
        { cmd: 'crictl info', output: ['"PluginConfDir": "/srv/cni/net.d",'] },
        {
          cmd: 'ls /etc/cni/net.d /srv/cni/net.d',
          output: ['/etc/cni/net.d:', '10-calico.conflist', '/srv/cni/net.d:'],
        },
      ],
    },
    ['cni-config-missing supports', 'cni-config-wrong proves supports'],
  ],
  [
    'foreign-config-first',
    "a runtime's sample is first",
    ran('ls /etc/cni/net.d', '10-containerd-net.conflist', '10-flannel.conflist'),
    ['cni-config-wrong supports'],
    { cni: 'flannel' },
  ],
  [
    'foreign-config-first',
    'and addresses come from it',
    {
      ...ran('ls /etc/cni/net.d', '10-containerd-net.conflist', '10-flannel.conflist'),
      ipam: { data_dir: '/var/lib/cni/networks/containerd-net' },
    },
    ['cni-config-wrong proves supports'],
    { cni: 'flannel' },
  ],
  [
    'foreign-config-first',
    'it is behind the right one',
    ran('ls /etc/cni/net.d', '10-flannel.conflist', '87-podman-bridge.conflist'),
    [],
    { cni: 'flannel' },
  ],
  ['foreign-config-first', 'nobody knows what runs here', ran('ls /etc/cni/net.d', '10-calico.conflist'), []],
  [
    'foreign-plugin-speaks',
    'flannel where calico runs',
    event('open /run/flannel/subnet.env: no such file or directory'),
    [
      'cni-config-wrong supports',
      '-cni-agent-down supports',
      '-cni-auth supports',
      '-cni-plugin-missing supports',
    ],
    { cni: 'calico' },
  ],
  [
    'foreign-plugin-speaks',
    'flannel where canal runs',
    event('open /run/flannel/subnet.env: no such file or directory'),
    [],
    { cni: 'canal' },
  ],
  [
    'foreign-plugin-speaks',
    'nobody knows what runs here',
    event('open /run/flannel/subnet.env: no such file or directory'),
    [],
  ],
  [
    'foreign-plugin-speaks',
    'what was removed is not what runs',
    event(`${setup}: plugin type="multus" name="multus-cni-network" failed (add): Unauthorized`),
    [
      'cni-config-wrong supports',
      '-cni-agent-down supports',
      '-cni-auth supports',
      '-cni-plugin-missing supports',
    ],
    { cni: 'cilium; multus removed' },
  ],
  [
    'config-invalid',
    'libcni refuses it',
    journal('W0827 cni.go:202] Error validating CNI config &{cbr0}'),
    ['cni-config-wrong proves'],
  ],
  [
    'config-invalid',
    'a plugin is missing',
    event(`${setup}: failed to find plugin "bridge" in path [/opt/cni/bin]`),
    [],
  ],
  [
    'plugin-refuses-config',
    'two ranges overlap',
    event(`${setup}: range set 0 overlaps with 1`),
    ['cni-config-wrong proves'],
  ],
  [
    'plugin-refuses-config',
    'a damaged note is none of it',
    event(
      'Error deleting a/b from network flannel/cbr0: failed to parse netconf: unexpected end of JSON input',
    ),
    [],
  ],
  [
    'node-gives-out-whole-cluster-range',
    'a /16 where the node has a /24',
    {
      ipam: { subnet: '10.244.0.0/16' },
      ...ran('kubectl get node n1 -o yaml | grep podCIDR', 'podCIDR: 10.244.1.0/24'),
    },
    ['cni-config-wrong supports'],
  ],
  [
    'node-gives-out-whole-cluster-range',
    "the node's own range",
    {
      ipam: { subnet: '10.244.1.0/24' },
      ...ran('kubectl get node n1 -o yaml | grep podCIDR', 'podCIDR: 10.244.1.0/24'),
    },
    [],
  ],
  [
    'node-gives-out-whole-cluster-range',
    'whereabouts has one range for all',
    {
      ipam: { plugin: 'whereabouts', subnet: '10.244.0.0/16' },
      ...ran('kubectl get node n1 -o yaml | grep podCIDR', 'podCIDR: 10.244.1.0/24'),
    },
    [],
  ],
  [
    'pod-address-outside-node-range',
    "another node's",
    {
      pods: ['a web-0 1/1 Running 0 5m 10.244.0.9 n1'],
      node: { name: 'n1' },
      ...ran('kubectl get node n1 -o yaml | grep podCIDR', 'podCIDR: 10.244.1.0/24'),
    },
    ['cni-config-wrong supports'],
  ],
  [
    'pod-address-outside-node-range',
    'its own',
    {
      pods: ['a web-0 1/1 Running 0 5m 10.244.1.9 n1'],
      node: { name: 'n1' },
      ...ran('kubectl get node n1 -o yaml | grep podCIDR', 'podCIDR: 10.244.1.0/24'),
    },
    [],
  ],
]

describe('P-R3 what each rule on the configuration says', () => {
  eachRow(configRules, configuration)
})
