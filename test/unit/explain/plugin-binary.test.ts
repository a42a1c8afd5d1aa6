import { binaryRules } from '../../../src/core/explain/rules/plugin-binary.js'
import { eachRow, event, ran, type Row, setup } from './plugin-seen.js'

const binaries: Row[] = [
  [
    'plugin-binary-missing',
    'a standard plugin',
    event(`${setup}: failed to find plugin "portmap" in path [/opt/cni/bin]`),
    ['cni-plugin-missing proves'],
  ],
  [
    'plugin-binary-missing',
    "a network's own",
    event(`${setup}: failed to find plugin "cilium-cni" in path [/opt/cni/bin]`),
    ['cni-plugin-missing supports'],
  ],
  [
    'plugin-binary-missing',
    'of a network that nobody runs here',
    event(`${setup}: failed to find plugin "weave-net" in path [/opt/cni/bin]`),
    ['cni-config-wrong supports', 'cni-plugin-missing hints'],
    { cni: 'cilium' },
  ],
  [
    'plugin-binary-missing',
    'it lies in another directory',
    {
      ...event(`${setup}: failed to find plugin "bridge" in path [/usr/lib/cni]`),
      ...ran('ls /opt/cni/bin', 'bridge  host-local'),
    },
    ['cni-plugin-missing supports', 'cni-config-wrong supports'],
  ],
  [
    'host-tool-missing',
    'iptables',
    event(`${setup}: failed to locate iptables: exec: "iptables": executable file not found in $PATH`),
    ['cni-plugin-missing proves'],
  ],
  [
    'host-tool-missing',
    "an application's command",
    event(
      'Error: failed to create containerd task: OCI runtime create failed: unable to start container process: exec: "serve": executable file not found in $PATH',
    ),
    [],
  ],
  [
    'plugin-binary-cannot-run',
    'another architecture',
    event(`${setup}: fork/exec /opt/cni/bin/calico: exec format error`),
    ['cni-plugin-missing proves'],
  ],
  [
    'plugin-binary-cannot-run',
    'no process can be started',
    event(`${setup}: fork/exec /opt/cni/bin/host-local: resource temporarily unavailable`),
    [],
  ],
]

describe('P-R3 what each rule on plugin binaries says', () => {
  eachRow(binaryRules, binaries)
})
