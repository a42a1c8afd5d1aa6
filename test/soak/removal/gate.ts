import { spawnSync } from 'node:child_process'
import { constants, rmSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

/** The line that makes a script stand still where a gate is: it opens a named pipe that nobody writes to yet. */
export const standingStill =
  '[ ! -p "$CNIBOT_NODE_ROOT/.lab/gate" ] || read -r _ <"$CNIBOT_NODE_ROOT/.lab/gate"'

/** A place where a script stands still until it is let go. */
export class Gate {
  private arrival: Promise<FileHandle> | undefined

  constructor(private readonly path: string) {}

  /** Sets the gate up; resolves when a script has come to it. */
  arrived(): Promise<FileHandle> {
    spawnSync('mkfifo', [this.path])
    this.arrival = open(this.path, 'w')
    return this.arrival
  }

  /** Lets the script go on. One that has not come yet will find no gate. */
  async release(): Promise<void> {
    const { arrival } = this
    if (arrival === undefined) return
    this.arrival = undefined
    const nobody = await open(this.path, constants.O_RDONLY | constants.O_NONBLOCK)
    const handle = await arrival
    rmSync(this.path)
    await nobody.close()
    await handle.close()
  }
}
