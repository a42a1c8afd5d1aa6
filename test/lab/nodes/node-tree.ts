import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { standardConflist } from './conflist.js'
import { runtimeSocket } from './runtime.js'

const folders = [
  'etc/cni/net.d',
  'etc/rancher',
  'proc/sys/kernel/random',
  'run/containerd',
  'run/netns',
  'usr/local/lib/cnibot',
  'var/lib/cni/networks',
  'var/lib/cni/results',
  'var/lib/kubelet',
  'var/log',
]

/** The files of a fresh node that an operator would find, below its root. */
export const plantTree = (root: string, name: string, podCidr: string): void => {
  for (const folder of folders) mkdirSync(join(root, folder), { recursive: true })
  const plant = (path: string, text: string) => writeFileSync(join(root, path), text)
  plant('etc/cni/net.d/10-k8s-pod-network.conflist', standardConflist(podCidr))
  plant('etc/hostname', `${name}\n`)
  plant('proc/sys/kernel/hostname', `${name}\n`)
  plant('etc/crictl.yaml', `runtime-endpoint: unix://${runtimeSocket}\ntimeout: 10\n`)
  plant(
    'var/lib/kubelet/config.yaml',
    [
      'apiVersion: kubelet.config.k8s.io/v1beta1',
      'kind: KubeletConfiguration',
      `containerRuntimeEndpoint: unix://${runtimeSocket}`,
      'maxPods: 110',
      '',
    ].join('\n'),
  )
  plant('run/containerd/containerd.sock', '')
}

/** What the kernel says of its start. `started` is in milliseconds. */
export const plantBoot = (root: string, bootId: string, started: number): void => {
  writeFileSync(join(root, 'proc/sys/kernel/random/boot_id'), `${bootId}\n`)
  writeFileSync(
    join(root, 'proc/stat'),
    `cpu  10132153 290696 3084719 46828483 16683 0 25195 0 0 0\nctxt 115315\nbtime ${Math.floor(started / 1000)}\nprocesses 26442\n`,
  )
}

/** The kubelet among the node's processes, with the options it was started with. */
export const plantKubelet = (root: string, pid: number, options: string[]): void => {
  const folder = join(root, 'proc', String(pid))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'comm'), 'kubelet\n')
  writeFileSync(join(folder, 'cmdline'), `${['/usr/bin/kubelet', ...options].join('\0')}\0`)
}
