// Brings a fresh checkout to the point where the tests or the demo can run: packages of npm, programs of Debian.
// usage: node scripts/setup.mjs test|demo
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const forTests = process.argv[2] !== 'demo'

/** What is run, where it may be, and the Debian package that brings it. */
const programs = [
  { any: ['redis-server', 'valkey-server'], debian: 'redis-server' },
  { any: ['/usr/sbin/sshd'], debian: 'openssh-server' },
  { any: ['/usr/lib/cni/host-local', '/opt/cni/bin/host-local'], debian: 'containernetworking-plugins' },
  { any: ['flock'], debian: 'util-linux' },
  ...(forTests
    ? [
        { any: ['ssh-keygen'], debian: 'openssh-client' },
        { any: ['chromium', 'chromium-browser', 'google-chrome'], debian: 'chromium' },
        { any: ['ip'], debian: 'iproute2' },
        { any: ['bash'], debian: 'bash' },
        { any: ['visudo'], debian: 'sudo' },
      ]
    : []),
]

const stop = message => {
  console.error(message)
  process.exit(1)
}

const checkNode = () => {
  const [major, minor, patch] = process.versions.node.split('.').map(Number)
  const enough = major > 20 || (major === 20 && (minor > 18 || (minor === 18 && patch >= 1)))
  if (!enough)
    stop(`Node ${process.versions.node} is too old: install Node 20.18.1 or newer (22 or 24 are fine)`)
}

/** `npm ci` where nothing is installed or the lockfile is newer than what is. */
const installPackages = () => {
  const installed = join(root, 'node_modules/.package-lock.json')
  const lock = join(root, 'package-lock.json')
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return
  console.log('installing packages: npm ci')
  const npm = process.env.npm_execpath
  const [file, args] = npm ? [process.execPath, [npm, 'ci']] : ['npm', ['ci']]
  const done = spawnSync(file, args, { cwd: root, stdio: 'inherit' })
  if (done.status !== 0) stop('npm ci did not work; see its output above')
}

const isThere = name => {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin']
  const places = name.startsWith('/') ? [name] : folders.map(folder => join(folder, name))
  return places.some(place => {
    try {
      accessSync(place, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

const missingPackages = () =>
  programs.filter(program => !program.any.some(isThere)).map(program => program.debian)

const apt = args =>
  spawnSync('apt-get', args, { stdio: 'inherit', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } })
    .status === 0

/** Installing must not start a Redis or an sshd of the machine's own: the tests start theirs on free ports. */
const withoutStartingServices = install => {
  const policy = '/usr/sbin/policy-rc.d'
  const ours = !existsSync(policy)
  if (ours) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    return install()
  } finally {
    if (ours) rmSync(policy, { force: true })
  }
}

const installPrograms = () => {
  const missing = missingPackages()
  if (missing.length === 0) return
  const install = ['install', '-y', '--no-install-recommends', ...missing]
  if (!isThere('apt-get')) stop(`missing programs; install what Debian calls: ${missing.join(' ')}`)
  if (process.getuid?.() !== 0) {
    stop(`missing programs; run this once:\n  sudo apt-get update && sudo apt-get ${install.join(' ')}`)
  }
  console.log(`installing programs: apt-get ${install.join(' ')}`)
  const done = withoutStartingServices(() => apt(['update', '-q']) && apt(['-q', ...install]))
  const still = missingPackages()
  if (!done || still.length > 0)
    stop(`could not install ${missing.join(' ')}; see the output of apt-get above`)
}

checkNode()
installPackages()
installPrograms()
