import ipaddr from 'ipaddr.js'

/**
 * The name host-local gives an address file, or undefined for any other name. It writes Go's `net.IP.String()`:
 * dotted decimal without leading zeros, IPv6 compressed in lower case.
 */
export const addressName = (name: string): string | undefined => {
  if (!/^[0-9a-f.:]{2,45}$/.test(name)) return undefined
  if (ipaddr.IPv4.isValidFourPartDecimal(name))
    return ipaddr.IPv4.parse(name).toString() === name ? name : undefined
  if (!name.includes(':') || !ipaddr.IPv6.isValid(name)) return undefined
  const address = ipaddr.IPv6.parse(name)
  return address.toRFC5952String() === name ? name : undefined
}

/** Text that sorts addresses by number, IPv4 first. For names `addressName` let through. */
export const addressOrder = (ip: string): string => {
  const bytes = ipaddr.parse(ip).toByteArray()
  return (
    bytes.length.toString(16).padStart(2, '0') +
    bytes.map(byte => byte.toString(16).padStart(2, '0')).join('')
  )
}
