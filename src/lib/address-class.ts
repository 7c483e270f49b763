import { BlockList, isIP } from 'node:net'

/**
 * How an IP address may be used. `public` is global unicast. `private` is reachable if the operator allows it. `forbidden` is everything else, whatever
 * the settings: link-local and cloud metadata, multicast, unspecified, documentation, translated and tunnelled forms of IPv4 (which could hide any of
 * these), and every IPv6 block that is not allocated for unicast.
 */
export type AddressClass = 'public' | 'private' | 'forbidden'

type Subnet = readonly [address: string, prefix: number]

const PRIVATE_V4: readonly Subnet[] = [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // carrier-grade NAT
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
]
const PRIVATE_V6: readonly Subnet[] = [
  ['::1', 128],
  ['fc00::', 7],
]

/** IANA special-purpose registries (IPv4 RFC 6890 and later), except for the private ranges above. */
const FORBIDDEN_V4: readonly Subnet[] = [
  ['0.0.0.0', 8],
  ['100.100.100.200', 32], // metadata of a cloud, inside carrier-grade NAT
  ['168.63.129.16', 32], // metadata and wire server of a cloud, outside every special range
  ['169.254.0.0', 16], // link-local, metadata
  ['192.0.0.0', 24], // protocol assignments; 192.0.0.192 is metadata of a cloud
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24], // 6to4 relay
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]
/** Metadata addresses of clouds, inside the unique-local range. */
const CLOUDS_V6: readonly Subnet[] = [
  ['fd00:ec2::', 32],
  ['fd20:ce::254', 128],
  ['fd00:42::42', 128],
  ['fd00:c1::a9fe:a9fe', 128],
  ['fd00:a9fe:a9fe::1', 128],
  ['fd00:100::100:200', 128],
]
const FORBIDDEN_V6: readonly Subnet[] = [
  ...CLOUDS_V6,
  ['2001::', 23], // Teredo, benchmarking, ORCHID and other protocol assignments
  ['2001:db8::', 32],
  ['2002::', 16], // 6to4
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
]
/** The only block that is allocated for global unicast. */
const UNICAST_V6: readonly Subnet[] = [['2000::', 3]]

/** Where machines reach themselves and their cloud, including its credentials. NAT64 can hide these addresses as well. */
const METADATA_V4: readonly Subnet[] = [
  ['169.254.0.0', 16],
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['192.0.0.192', 32],
]
const METADATA_V6: readonly Subnet[] = [...CLOUDS_V6, ['fe80::', 10], ['64:ff9b::a9fe:0', 112]]

function blockList(v4: readonly Subnet[], v6: readonly Subnet[]): BlockList {
  const list = new BlockList()
  for (const [address, prefix] of v4) list.addSubnet(address, prefix, 'ipv4')
  for (const [address, prefix] of v6) list.addSubnet(address, prefix, 'ipv6')
  return list
}

const privateV4 = blockList(PRIVATE_V4, [])
const forbiddenV4 = blockList(FORBIDDEN_V4, [])
const privateV6 = blockList([], PRIVATE_V6)
const forbiddenV6 = blockList([], FORBIDDEN_V6)
const unicastV6 = blockList([], UNICAST_V6)

const metadata = blockList(METADATA_V4, METADATA_V6)

/**
 * Whether a host, in its URL form, is a literal link-local or cloud metadata address, which no operator can intend, whatever else is allowed. False for
 * names.
 */
export function isMetadataAddress(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  const family = isIP(address)
  return family !== 0 && metadata.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

/** Classifies an address in text form; anything that is not an address, or has a zone, is forbidden. */
export function classifyAddress(address: string): AddressClass {
  switch (isIP(address)) {
    case 4:
      if (forbiddenV4.check(address, 'ipv4')) return 'forbidden'
      return privateV4.check(address, 'ipv4') ? 'private' : 'public'
    case 6:
      if (address.includes('%') || forbiddenV6.check(address, 'ipv6')) return 'forbidden'
      if (privateV6.check(address, 'ipv6')) return 'private'
      return unicastV6.check(address, 'ipv6') ? 'public' : 'forbidden'
    default:
      return 'forbidden'
  }
}
