#!/usr/bin/env node
import { Command } from 'commander'
import { RunbookError } from './adapters/files/runbooks.js'
import type { ExportOptions, VerifyOptions } from './cli/audit.js'
import type { ExplainOptions } from './cli/explain.js'
import { SettingsError } from './config.js'
import { Refused } from './ports.js'

/** 1: it was tried and did not work. 2: what was asked for or set cannot be used, and nothing was done. */
const failWith = (error: unknown): never => {
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(`cnibot: ${message}\n`)
  process.exit([SettingsError, RunbookError, Refused].some(unusable => error instanceof unusable) ? 2 : 1)
}

const program = new Command('cnibot')
  .description(
    'Nodes that are Ready but cannot give a new Pod a network: found, explained, repaired after a person approved',
  )
  .showHelpAfterError()

program
  .command('bot')
  .description('watches the cluster and speaks Slack; settings come from the environment (CNIBOT_…)')
  .action(async () => {
    const { runBot } = await import('./bot.js')
    await runBot().catch(failWith)
  })

program
  .command('worker')
  .description('reaches nodes and changes the cluster, one approved step at a time')
  .action(async () => {
    const { runWorker } = await import('./worker.js')
    await runWorker().catch(failWith)
  })

program
  .command('diagnose')
  .description('looks at one node, read only, and prints evidence and verdict; needs neither Slack nor Redis')
  .argument('<node>')
  .option('--kubeconfig <file>', 'kubeconfig of the cluster (CNIBOT_KUBECONFIG; default ~/.kube/config)')
  .option('--context <name>', 'context in that file')
  .option('--cluster <name>', 'how the cluster is called in the output')
  .option('--ssh-user <user>', 'user on the node (default: you)')
  .option('--ssh-key <file>', 'private key (default ~/.ssh/id_ed25519)')
  .option('--known-hosts <file>', 'pinned host keys (default ~/.ssh/known_hosts)')
  .option('--json', 'print the bundle and the verdict as JSON')
  .action(async (node: string, options: Record<string, string | boolean>) => {
    const { diagnoseNode } = await import('./cli/diagnose.js')
    await diagnoseNode(node, options).catch(failWith)
  })

program
  .command('explain')
  .description(
    'says what a saved bundle (diagnose --json) or a case shows, and what to do; needs no cluster, Redis or Slack',
  )
  .argument('[file]', 'JSON; - or nothing: standard input')
  .option('--json', 'print the answer as JSON')
  .action(async (file: string | undefined, options: ExplainOptions) => {
    const { explainFile } = await import('./cli/explain.js')
    await explainFile(file, options).catch(failWith)
  })

const audit = program
  .command('audit')
  .description('the record of who was shown, approved and ran what, with which result; read only')

const ofRecord = (command: Command): Command =>
  command
    .option('--redis-url <url>', 'where the record is (CNIBOT_REDIS_URL)')
    .option('--cluster <name>', 'whose record it is (CNIBOT_CLUSTER)')

ofRecord(audit.command('verify'))
  .description('proves that the record is whole; exit code 1 and the first place that is not, else 0')
  .option(
    '--head <hash>',
    'a hash that was logged or noted earlier and must be in it: finds an end that was cut off',
  )
  .option('--file <path>', 'a whole export instead of Redis')
  .action(async (options: VerifyOptions) => {
    const { auditVerify } = await import('./cli/audit.js')
    await auditVerify(options).catch(failWith)
  })

ofRecord(audit.command('export'))
  .description('prints the record as JSON lines, oldest first')
  .option('--since <time>', 'only entries since then: 7d, 2026-11-18 or 2026-11-18T11:30:00Z')
  .option('--node <name>', 'only entries of this node')
  .action(async (options: ExportOptions) => {
    const { auditExport } = await import('./cli/audit.js')
    await auditExport(options).catch(failWith)
  })

await program.parseAsync()
