import { readCniMessage } from '../../../../src/core/diagnosis/cni-message.js'

/** Ordinary work, or trouble of a kind that no rule knows. */
const unknown = [
  '',
  '   \t\n\n ',
  '{}',
  'hello',
  'I1130 15:42:13.549647      92 pod_startup_latency_tracker.go:148] "Observed pod startup duration" pod="payments/victim-mk7rb" totalImagesPullingTime="0s"',
  'I1130 15:42:13.550058 92 kubelet.go:2740] "SyncLoop DELETE" source="api" pods=["payments/victim-lbs2f"]',
  'I1130 15:42:13.550890 92 kuberuntime_container.go:915] "Killing container with a grace period" pod="payments/v" containerName="c" gracePeriod=2',
  'I1130 15:42:13.853180 92 operation_generator.go:617] "MountVolume.SetUp succeeded for volume \\"kube-api-access-whqr5\\" pod \\"victim\\" "',
  'time="2026-11-30T15:42:13.5Z" level=info msg="StopContainer for \\"2865e0596b95\\" with timeout 2 (s)"',
  'time="2026-11-30T15:42:13.5Z" level=info msg="RunPodSandbox for &PodSandboxMetadata{Name:b,Uid:u,Namespace:lab,Attempt:0,}"',
  'time="2026-11-30T15:09:01Z" level=info msg="shim disconnected" id=8a0eea1da9c7 namespace=k8s.io',
  'Successfully assigned shop/api-1 to node-07',
  'Pulling image "registry.example/app:2"',
  'Successfully pulled image "registry.example/app:2" in 446.491739ms',
  'Container image "registry.example/app:1.9" already present on machine',
  'Created container app',
  'Started container app',
  'AttachVolume.Attach succeeded for volume "pvc-5a90c7d3"',
  'Scaled up replica set api-7c76 to 3',
  'network configuration reloaded: 4 interfaces, address 10.0.0.4/24 on eth0',
  'The network of the office is slow today, can somebody look?',
  'Which address does the pod have? I can see the image but not the node.',
  'Listening on address 0.0.0.0:8080, image build 4711, volume 11',
  'secret rotation finished, 3 secrets renewed',
  'eth0: link becomes ready',
  'INFO starting scheduler with 4 nodes, quota 10',
  'warning: the disk of the node is 60 % full',
  'failed to write the report: quota of the mailbox',
  'panic: runtime error: index out of range [3] with length 3',
  'connected to peer 10.0.0.5:179, session established',
  'reconciler released nothing: 3812 allocations, 3812 pods',
  'eviction of cache entries done: 12 evicted',
  'drain of the queue finished',
  'user alice logged in; token issued',
  'timeouts: connect 5s, read 30s, handshake 10s',
  'CNI plugins v1.4.0 installed to /opt/cni/bin',
  'plugin type="bridge" loaded, ipam type "host-local", range set of 2 ranges',
  'failed to setup network for sandbox "d45b": plugin type="acme" failed (add): the flux is out of phase',
  'rpc error: code = Unknown desc = something nobody has seen',
]

describe('unknown stays unknown', () => {
  test.each(unknown)('%j', text => {
    expect(readCniMessage(text)).toMatchObject({
      code: 'OTHER',
      kind: 'other',
      causes: [],
      matched: undefined,
      answers: undefined,
      notCni: false,
    })
  })

  test('of an unknown failure the operation and the plugin are still read', () => {
    expect(
      readCniMessage(
        'failed to setup network for sandbox "d45b99965bc1": plugin type="acme" name="n1" failed (add): odd',
      ),
    ).toMatchObject({
      operation: 'add',
      plugin: 'acme',
      network: 'n1',
      sandboxId: 'd45b99965bc1',
      code: 'OTHER',
    })
  })
})
