/** The ten rules of removing an address, as the titles of their tests. */
export const rules: [rule: number, title: string][] = [
  [
    1,
    'rule 1: a runtime that is silent, empty, not the kubelet’s, restarted, on another boot or short of a fifth of its sandboxes removes nothing',
  ],
  [2, 'rule 2: addresses are read before sandboxes, and a sandbox in any state owns its address'],
  [3, 'rule 3: what the runtime wrote down before it lists a sandbox counts, and is read after the list'],
  [
    4,
    'rule 4: without those records two readings 15 minutes apart must agree, and the file be older than that',
  ],
  [5, 'rule 5: an owner that is no sandbox id stays; an empty file goes only when it is older than the boot'],
  [6, 'rule 6: only regular files named as canonical addresses of the configured ranges, never bookkeeping'],
  [7, 'rule 7: no namespace, confirmed neighbour or route has the address, asked before the lock is taken'],
  [8, 'rule 8: the node is cordoned by then, and by whom is recorded'],
  [
    9,
    'rule 9: under the plugin’s own lock the very same file is renamed out of its folder, with a manifest, and nothing slow runs',
  ],
  [10, 'rule 10: putting back links the file and never replaces a new owner'],
]
