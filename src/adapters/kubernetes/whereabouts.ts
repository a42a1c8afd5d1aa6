import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Whereabouts } from '../../core/drain/own-ground.js'
import { pages } from './call.js'
import type { Kube } from './connect.js'
import { reasonOf } from './errors.js'

/** `redis`, `redis.store`, `redis.store.svc`, `redis.store.svc.cluster.local`: a Service and its namespace. */
const serviceOf = (
  host: string,
  own: string | undefined,
): { namespace: string; name: string } | undefined => {
  const [name, namespace = own, kind] = host.split('.')
  const isService = isIP(host) === 0 && (kind === undefined || kind === 'svc')
  return isService && name && namespace ? { namespace, name } : undefined
}

/** A Service's own address belongs to no Pod: its EndpointSlices name those behind it. */
const behindService = async (kube: Kube, { namespace, name }: { namespace: string; name: string }) => {
  const slices = await pages(kube, `list the EndpointSlices of ${namespace}/${name}`, page =>
    kube.discovery.listNamespacedEndpointSlice({
      namespace,
      labelSelector: `kubernetes.io/service-name=${name}`,
      ...page,
    }),
  )
  const endpoints = slices.flatMap(slice => slice.endpoints ?? [])
  return {
    addresses: endpoints.flatMap(each => each.addresses),
    nodes: [...new Set(endpoints.flatMap(each => each.nodeName ?? []))],
    pods: endpoints.flatMap(({ targetRef }) =>
      targetRef?.kind === 'Pod' ? [`${targetRef.namespace ?? namespace}/${targetRef.name ?? ''}`] : [],
    ),
  }
}

/** Where a host leads; what could not be found out is a reason, not an error. */
export const whereabouts = async (
  kube: Kube,
  host: string,
  namespace: string | undefined,
): Promise<Whereabouts> => {
  try {
    const service = serviceOf(host, namespace)
    const behind = service && (await behindService(kube, service))
    if (behind && behind.addresses.length > 0) return { host, ...behind }
  } catch (error) {
    return { host, why: error instanceof Error ? error.message : String(error) }
  }
  try {
    const found = await lookup(host, { all: true })
    return { host, addresses: found.map(({ address }) => address), nodes: [], pods: [] }
  } catch (error) {
    return { host, why: `${host} has no address here: ${reasonOf(error)}` }
  }
}
