import type { StepSettings } from '../../src/steps/step.js'

/** Of a step that must not wait for anything in a test. */
export const stepSettings: StepSettings = {
  testPodNamespace: 'cnibot',
  testPodImage: 'pause',
  own: { podNamespace: undefined, podName: undefined, redisHost: 'redis' },
  deadlineMs: 1,
  lookEveryMs: 1,
}

/** Of a worker whose nodes are not asked. */
export const workerSettings = {
  ...stepSettings,
  peers: 0,
  probeTimeoutMs: 1,
  probeMaxBytes: 1,
  approvalTtlMs: 1,
  bundleTtlMs: 1,
}

/** Of one that knows its own Pod and looks every 2 ms. */
export const ownSettings: StepSettings = {
  ...stepSettings,
  own: { podNamespace: 'ops', podName: 'cni-worker-1', redisHost: 'redis' },
  lookEveryMs: 2,
}
