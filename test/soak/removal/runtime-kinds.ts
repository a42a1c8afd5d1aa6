export type RuntimeKind = 'containerd-1' | 'containerd-2' | 'crio'

/** What each calls itself, where it listens, and the unit it runs in. */
export const versions: Record<RuntimeKind, { name: string; version: string; socket: string; unit: string }> =
  {
    'containerd-1': {
      name: 'containerd',
      version: '1.7.24',
      socket: '/run/containerd/containerd.sock',
      unit: 'containerd',
    },
    'containerd-2': {
      name: 'containerd',
      version: '2.1.4',
      socket: '/run/containerd/containerd.sock',
      unit: 'containerd',
    },
    crio: { name: 'cri-o', version: '1.31.2', socket: '/run/crio/crio.sock', unit: 'crio' },
  }
