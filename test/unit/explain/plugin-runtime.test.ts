import { runtimeRules } from '../../../src/core/explain/rules/plugin-runtime.js'
import { eachRow, event, journal, noSocket, ran, type Row, setup, unauthorized } from './plugin-seen.js'

const runtimes: Row[] = [
  [
    'runtime-reports-fault',
    'a handler',
    event(
      'Failed to create pod sandbox: failed to get sandbox runtime: no runtime for "nvidia" is configured',
    ),
    ['runtime-error proves'],
  ],
  [
    'runtime-reports-fault',
    'drivers of control groups',
    journal(
      'misconfiguration: kubelet cgroup driver: "cgroupfs" is different from docker cgroup driver: "systemd"',
    ),
    ['runtime-error proves'],
  ],
  [
    'runtime-reports-fault',
    'a profile',
    event(
      'OCI runtime create failed: starting container process caused: apparmor failed to apply profile: write /proc/self/attr/exec: no such file or directory',
    ),
    ['runtime-error proves'],
  ],
  [
    'runtime-reports-fault',
    "an application's command",
    event(
      'OCI runtime create failed: unable to start container process: exec: "serve": executable file not found in $PATH',
    ),
    [],
  ],
  [
    'runtime-reports-fault',
    'a full disk',
    event('failed to create shim task: mkdir /run/x: no space left on device'),
    [],
  ],
  [
    'sandbox-not-started',
    'runc',
    event(
      'Failed to create pod sandbox: failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: x',
    ),
    ['runtime-error supports'],
  ],
  ['sandbox-not-started', 'the network', noSocket, []],
  [
    'runtime-does-not-answer',
    'its socket',
    event(
      'Failed to create pod sandbox: dial unix /run/containerd/containerd.sock: connect: connection refused',
    ),
    ['runtime-error supports'],
  ],
  ['runtime-does-not-answer', "an agent's socket", noSocket, []],
  [
    'runtime-unit-fails',
    'docker',
    journal('systemd[1]: docker.service: Main process exited, code=exited, status=203/EXEC', 'docker'),
    ['runtime-error proves'],
  ],
  [
    'runtime-unit-fails',
    'the kubelet',
    journal('systemd[1]: kubelet.service: Main process exited, code=exited, status=1/FAILURE'),
    [],
  ],
  [
    'process-limit-reached',
    'and counted',
    {
      ...event(`${setup}: fork/exec /opt/cni/bin/host-local: resource temporarily unavailable`),
      ...ran('cat /proc/sys/kernel/pid_max; ps -eLf | wc -l', '32768', '32651'),
    },
    ['runtime-error supports supports'],
  ],
  [
    'process-limit-reached',
    'far from it',
    ran('cat /proc/sys/kernel/pid_max; ps -eLf | wc -l', '32768', '811'),
    [],
  ],
  [
    'plugin-ends-without-word',
    'an empty answer',
    event(
      `${setup}: netplugin failed but error parsing its diagnostic message "": unexpected end of JSON input`,
    ),
    ['runtime-error hints'],
  ],
  ['plugin-ends-without-word', 'an answer', event(unauthorized), []],
  [
    'runtime-too-slow',
    'a deadline alone says little',
    event(
      'Failed to create pod sandbox: rpc error: code = DeadlineExceeded desc = context deadline exceeded',
    ),
    ['runtime-error hints'],
  ],
  [
    'runtime-too-slow',
    'and processes hang',
    {
      ...event(
        'Failed to create pod sandbox: rpc error: code = DeadlineExceeded desc = context deadline exceeded',
      ),
      ...journal('INFO: task runc:811 blocked for more than 120 seconds.', 'kernel'),
    },
    ['runtime-error hints supports'],
  ],
  ['runtime-too-slow', 'no deadline', noSocket, []],
  [
    'security-policy-denies',
    'the shim',
    journal(
      'type=AVC msg=audit(1.1:2): avc:  denied  { execute } for  pid=1 comm="containerd-shim"',
      'audit',
    ),
    ['runtime-error supports'],
  ],
  [
    'security-policy-denies',
    'another program',
    journal('type=AVC msg=audit(1.1:2): avc:  denied  { read } for  pid=1 comm="nginx"', 'audit'),
    [],
  ],
]

describe('P-R3 what each rule on the runtime says', () => {
  eachRow(runtimeRules, runtimes)
})
