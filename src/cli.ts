#!/usr/bin/env node
import { Command } from 'commander'
import { RunbookError } from './adapters/files/runbooks.js'
import { diagnoseNode } from './cli/diagnose.js'
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
  .action((node: string, options: Record<string, string | boolean>) =>
    diagnoseNode(node, options).catch(failWith),
  )

await program.parseAsync()
