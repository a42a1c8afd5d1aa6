import { slackSettings } from './slack.js'
import { sshSettings } from './ssh.js'
import {
  clusterName,
  dnsLabel,
  flag,
  oneOf,
  path,
  redisUrl,
  setting,
  text,
  time,
  type Setting,
  whole,
} from './value.js'

const bot = ['bot'] as const
const worker = ['worker'] as const
const nodes = ['worker', 'cli'] as const
const both = ['bot', 'worker'] as const
const all = ['bot', 'worker', 'cli'] as const
const record = ['bot', 'worker', 'audit'] as const
const every = [...all, 'audit'] as const

/** Every setting there is, in the order of the reference. */
export const settings = {
  cluster: setting(
    'CNIBOT_CLUSTER',
    every,
    clusterName,
    'name of the cluster; part of every key, job, button and message',
  ),
  redisUrl: setting(
    'CNIBOT_REDIS_URL',
    record,
    redisUrl,
    'Redis or Valkey with append-only persistence and no eviction',
    { secret: 'password' },
  ),
  kubeconfig: setting(
    'CNIBOT_KUBECONFIG',
    all,
    path.optional(),
    'kubeconfig file; without it the service account of the Pod',
  ),
  kubeContext: setting(
    'CNIBOT_KUBE_CONTEXT',
    all,
    text.optional(),
    'context in that file; without it its current one',
  ),

  ...slackSettings,

  ...sshSettings,

  stuckAfter: setting('CNIBOT_STUCK_AFTER', bot, time, 'a Pod without a sandbox for longer is a ticket', {
    default: '5m',
  }),
  rolloutStuckAfter: setting(
    'CNIBOT_ROLLOUT_STUCK_AFTER',
    bot,
    time,
    'a rollout without progress for longer is a ticket',
    { default: '15m' },
  ),
  ticketWindow: setting(
    'CNIBOT_TICKET_WINDOW',
    worker,
    time,
    'tickets on one node within it belong together',
    {
      default: '48h',
    },
  ),
  incidentWindow: setting(
    'CNIBOT_INCIDENT_WINDOW',
    both,
    time,
    'a symptom so soon after the end reopens the incident',
    { default: '72h' },
  ),
  peers: setting('CNIBOT_PEERS', nodes, whole(0, 10), 'other nodes measured beside the one in question', {
    default: '2',
  }),
  maxNodesUnderRepair: setting(
    'CNIBOT_MAX_NODES_UNDER_REPAIR',
    bot,
    whole(1, 50),
    'nodes being repaired at the same time',
    { default: '1' },
  ),
  paused: setting(
    'CNIBOT_PAUSED',
    both,
    flag,
    'pauses every change but undo, whatever people type; reading goes on',
    { default: 'false' },
  ),
  stormThreshold: setting(
    'CNIBOT_STORM_THRESHOLD',
    bot,
    whole(1, 1_000),
    'when Pods get stuck on more nodes than this at once, it is no single node’s fault and none is repaired',
    { default: '3' },
  ),
  stormWindow: setting('CNIBOT_STORM_WINDOW', bot, time, 'what at once means there', { default: '15m' }),
  testPodNamespace: setting('CNIBOT_TEST_POD_NAMESPACE', worker, dnsLabel, 'namespace of the test Pods', {
    default: 'cnibot',
  }),
  testPodImage: setting(
    'CNIBOT_TEST_POD_IMAGE',
    worker,
    text,
    'image of the test Pods, one that every node has already',
    { default: 'registry.k8s.io/pause:3.10' },
  ),
  podNamespace: setting(
    'CNIBOT_POD_NAMESPACE',
    worker,
    dnsLabel.optional(),
    'namespace of the Pod this runs in; the chart sets it',
  ),
  podName: setting(
    'CNIBOT_POD_NAME',
    worker,
    text.optional(),
    'that Pod: its node is never drained from here; the chart sets it',
  ),
  runbooksDir: setting(
    'CNIBOT_RUNBOOKS_DIR',
    all,
    path.optional(),
    'folder with runbooks beside the shipped ones',
  ),
  bundleTtl: setting('CNIBOT_BUNDLE_TTL', worker, time, 'how long collected evidence is kept', {
    default: '14d',
  }),

  httpHost: setting(
    'CNIBOT_HTTP_HOST',
    both,
    text.optional(),
    'address for health and metrics; without it all of them',
  ),
  httpPort: setting(
    'CNIBOT_HTTP_PORT',
    both,
    whole(0, 65_535),
    'port for health and metrics; 0 takes a free one',
    { default: '8080' },
  ),
  logLevel: setting(
    'CNIBOT_LOG_LEVEL',
    both,
    oneOf(['debug', 'info', 'warn', 'error']),
    'how much is logged',
    { default: 'info' },
  ),
  resumeEvery: setting('CNIBOT_RESUME_EVERY', both, time, 'how often unfinished work is looked for', {
    default: '1m',
  }),
  jobLock: setting(
    'CNIBOT_JOB_LOCK',
    both,
    time,
    'jobs of a process that died are picked up after about this long',
    { default: '30s' },
  ),
  concurrency: setting(
    'CNIBOT_CONCURRENCY',
    both,
    whole(1, 64),
    'jobs one process works on at the same time',
    { default: '4' },
  ),
  clockFile: setting(
    'CNIBOT_CLOCK_FILE',
    every,
    path.optional(),
    'a clock that can be moved, for practice runs only',
  ),
} satisfies Record<string, Setting>
