import type { MessageRule } from './message-rule.js'

/** Damaged notes of libcni and of plugins: before the rules on configurations, whose words they share. */
export const cacheRules: MessageRule[] = [
  {
    code: 'MULTUS_CACHE_CORRUPT',
    kind: 'cache-corrupt',
    when: /multus: (?:\[[^\]]{0,200}\]: )?failed to load netconf/,
    causes: ['cni-config-wrong'],
    onDel: ['cni-del-failing'],
    says: "Multus' own note of this sandbox is damaged.",
  },
  {
    code: 'FLANNEL_SCRATCH_CORRUPT',
    kind: 'cache-corrupt',
    when: /failed to parse netconf: (?:unexpected end of json|invalid character)/,
    causes: ['cni-config-wrong'],
    onDel: ['cni-del-failing', 'ipam-leak'],
    says: "Flannel's own note of this sandbox is damaged.",
  },
  {
    code: 'CNI_CACHE_CORRUPT',
    kind: 'cache-corrupt',
    when: /cached result: [^\n]{0,200}(?:unexpected end of json input|decoding version|invalid character)/,
    causes: ['cni-del-failing'],
    operation: 'del',
    says: "libcni's result cache holds a damaged entry.",
  },
  {
    code: 'CNI_CACHE_MISSING_HARMLESS',
    kind: 'harmless',
    when: /not found in cni cache|falling back to loading from existing plugins on disk/,
    causes: [],
    operation: 'none',
    says: 'The runtime has no note of the network and reads the configuration instead: harmless.',
  },
]

/** The plugin itself, or its configuration. */
export const pluginRules: MessageRule[] = [
  {
    code: 'CNI_BIN_MISSING',
    kind: 'plugin-missing',
    when: /failed to find plugin ["'`][^"'`]{0,80}["'`] in path/,
    causes: ['cni-plugin-missing', 'cni-config-wrong'],
    onDel: ['cni-plugin-missing', 'cni-del-failing', 'cni-config-wrong'],
    says: 'The runtime cannot find a plugin binary that the configuration names.',
  },
  {
    code: 'HOST_TOOL_MISSING',
    kind: 'plugin-missing',
    when: /executable file not found in \$path/,
    causes: ['cni-plugin-missing'],
    onDel: ['cni-plugin-missing', 'ipam-leak'],
    says: 'A program that a plugin calls is not installed on the node.',
  },
  {
    code: 'CNI_BIN_EXEC',
    kind: 'plugin-cannot-run',
    when: /fork\/exec \/\S{1,200}:|exec format error|text file busy/,
    causes: ['cni-plugin-missing'],
    onDel: ['cni-plugin-missing', 'cni-del-failing'],
    says: 'A plugin binary is there but cannot be executed.',
  },
  {
    code: 'PLUGIN_CRASH',
    kind: 'plugin-cannot-run',
    when: /netplugin failed but error parsing its diagnostic message/,
    causes: ['runtime-error'],
    onDel: ['cni-del-failing', 'runtime-error'],
    says: 'A plugin ended without a word of its own: it crashed or was not let run.',
  },
  {
    code: 'CNI_VERSION_PARSE',
    kind: 'config-invalid',
    when: /failed to convert (?:major|minor|micro) version part/,
    causes: ['cni-config-wrong'],
    onDel: ['ipam-leak', 'cni-config-wrong'],
    says: 'The runtime gave the plugin no version of the configuration that it can read.',
  },
  {
    code: 'CNI_CONF_INVALID',
    kind: 'config-invalid',
    when: /error validating cni config|no valid networks found|incompatible cni versions|error parsing configuration|invalid cni config|invalid character .{1,20} looking for/,
    causes: ['cni-config-wrong'],
    onDel: ['cni-config-wrong', 'cni-del-failing'],
    says: 'The network configuration on the node is not valid.',
  },
  {
    code: 'PLUGIN_CONFIG',
    kind: 'config-invalid',
    when: /specify either ["'`]?device|failed to find network info for sandbox|got zero config error|error loading (?:netconf|configuration)|failed to load netconf|unsupported (?:ipam|plugin) type|missing network name|no ipam (?:type|ranges)|must specify at least one range/,
    causes: ['cni-config-wrong'],
    onDel: ['cni-config-wrong', 'cni-del-failing'],
    says: "The plugin cannot work with what the network's configuration or its cached copy tells it.",
  },
  {
    code: 'MULTUS_CONFIG',
    kind: 'config-invalid',
    when: /error in getting k8s network for pod|cannot find a network-attachment-definition|cni request failed with status 400/,
    causes: ['cni-config-wrong'],
    onDel: ['cni-config-wrong', 'cni-del-failing'],
    says: 'Multus refused: a network it was asked for is not defined or not valid.',
  },
  {
    code: 'CNI_CONF_MISSING',
    kind: 'config-missing',
    when: /cni config uninitialized|cni plugin not initialized|cni config not initialized|no cni configuration file in|no networks? found in \/|network is not ready:|no network config found|networkpluginnotready|network plugin is not ready/,
    causes: ['cni-config-missing', 'cni-agent-down'],
    onDel: ['cni-config-missing', 'cni-agent-down', 'cni-del-failing'],
    says: 'The runtime has no network configuration.',
  },
]
