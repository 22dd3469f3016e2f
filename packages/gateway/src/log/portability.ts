/** Which entries any JSON reader can read, and what replaces the others (PROTOCOL.md section 4.8). */
import { entryHead, entryPath, type EntryMetadata } from '@open-presence/protocol';

/** How a body stands beside others: as it is spelled, with other escapes (`json/portable-spelling.ts`), or omitted. */
export type Portability = 'exact' | 'respelled' | 'omitted';

/** In the order of the numbers by which they are stored. */
export const PORTABILITIES: readonly Portability[] = ['exact', 'respelled', 'omitted'];

/** Replaces an omitted entry of this many bytes: the gateway's own members, and where to read the entry. */
export function entryOutline(metadata: EntryMetadata, size: number): string {
  return `${entryHead(metadata)},"omitted":{"path":"${entryPath(metadata.id)}","size":${size}}}`;
}
