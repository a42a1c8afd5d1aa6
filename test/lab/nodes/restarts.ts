import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { LabNode } from './lab-node.js'
import { newUuid, type Sandbox } from './model.js'
import { plantBoot, plantKubelet } from './node-tree.js'

export interface RestartOptions {
  /** The runtime's store and the result cache are lost: no DEL is ever sent for what was there. */
  loseMetadata?: boolean
  /** False: an operator's restart; true: it was killed, and systemd started it again. */
  crash?: boolean
}

export const restartRuntime = (
  node: LabNode,
  { loseMetadata = false, crash = loseMetadata }: RestartOptions = {},
): Sandbox[] => {
  const { journal, runtime, units } = node
  const now = node.clock.now()
  if (crash) {
    journal.systemd('containerd', now, 'containerd.service: Main process exited, code=killed, status=9/KILL')
    journal.systemd('containerd', now, "containerd.service: Failed with result 'signal'.")
  } else {
    journal.systemd('containerd', now, 'Stopping containerd.service - containerd container runtime...')
  }
  journal.restarted('containerd')
  const forgotten = loseMetadata ? node.sandboxes() : []
  for (const sandbox of forgotten) {
    // The shims died with it: interfaces are gone, address file and nat rules are not.
    runtime.detach(sandbox, { keepChain: true })
    runtime.forget(sandbox)
  }
  if (loseMetadata) runtime.records.clear()
  units.start('containerd', now + 1000, crash)
  node.announceStart('containerd', now + 1000)
  runtime.render()
  return forgotten
}

export const restartKubelet = (node: LabNode): void => {
  const now = node.clock.now()
  rmSync(join(node.root, 'proc', String(node.journal.pid('kubelet'))), { recursive: true, force: true })
  node.journal.restarted('kubelet')
  plantKubelet(node.root, node.journal.pid('kubelet'), ['--config=/var/lib/kubelet/config.yaml'])
  node.units.start('kubelet', now, false)
  node.announceStart('kubelet', now)
}

export const reboot = (node: LabNode): void => {
  const { runtime } = node
  const now = node.clock.now()
  node.bootId = newUuid()
  node.journal.booted(node.bootId, now)
  plantBoot(node.root, node.bootId, now)
  for (const sandbox of node.sandboxes()) {
    sandbox.state = 'notready'
    // Kernel state is gone, the disk is not: address and result cache stay.
    runtime.unplug(sandbox)
  }
  runtime.chains.clear()
  node.journal.restarted('containerd')
  node.units.start('containerd', now + 5000, false)
  node.announceStart('containerd', now + 5000)
  restartKubelet(node)
  runtime.render()
}
