/** What the node's annotation says of a cordon of ours: the cluster and the incident, `prod-eu1/node-07.1`. */
export const cordonMark = ({ cluster, incident }: { cluster: string; incident: string }): string =>
  `${cluster}/${incident}`
