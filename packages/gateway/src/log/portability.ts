/** Which entries any JSON reader can read, and what replaces the others (PROTOCOL.md section 4.8). */
import { entryHead, entryPath, type EntryMetadata } from '@open-presence/protocol';

/** How a body stands beside others: as it is spelled, with `\ufffd` for halves of surrogate pairs, or omitted. */
export type Portability = 'exact' | 'halves' | 'omitted';

/** In the order of the numbers by which they are stored. */
export const PORTABILITIES: readonly Portability[] = ['exact', 'halves', 'omitted'];

/** Replaces an omitted entry of this many bytes: the gateway's own members, and where to read the entry. */
export function entryOutline(metadata: EntryMetadata, size: number): string {
  return `${entryHead(metadata)},"omitted":{"path":"${entryPath(metadata.id)}","size":${size}}}`;
}
