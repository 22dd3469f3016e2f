/**
 * How drafts travel to the writer's thread and their outcomes back: as bytes in one transferred
 * buffer for all drafts of a turn, since cloning objects costs more than storing them.
 */
import { KINDS, type Kind } from '@open-presence/protocol';

/** A draft as the writer sees it. The views end with the batch. */
export interface Packed {
  readonly kind: Kind;
  readonly room: string;
  readonly facets: Uint8Array;
  readonly key: Uint8Array | undefined;
  /** Small: the body itself. */
  readonly body: Uint8Array;
  /** Large: the file that has the body. */
  readonly large: LargeBody | undefined;
}

/** A body in a file of its own. */
export interface LargeBody {
  readonly name: string;
  /** Bytes of the file: the body and the closing brace. */
  readonly size: number;
  /** SHA-256 of the body, in hex. */
  readonly digest: string;
  /** Whether there are facets in files beside it. */
  readonly marked: boolean;
}

const HEADER = 16;
const KEY_SIZE = 32;

export function pack(drafts: readonly Packed[]): ArrayBuffer {
  const larges = drafts.map((d) => (d.large ? Buffer.from(JSON.stringify(d.large)) : undefined));
  let total = 0;
  for (const [index, draft] of drafts.entries()) {
    total += HEADER + draft.room.length + (draft.key === undefined ? 0 : KEY_SIZE);
    total += draft.facets.length + (larges[index] ?? draft.body).length;
  }
  const buffer = Buffer.from(new ArrayBuffer(total));
  let at = 0;
  for (const [index, draft] of drafts.entries()) {
    const large = larges[index];
    const body = large ?? draft.body;
    buffer[at] = KINDS.indexOf(draft.kind);
    buffer[at + 1] = (draft.key === undefined ? 0 : 1) + (large === undefined ? 0 : 2);
    buffer.writeUInt32LE(draft.room.length, at + 4);
    buffer.writeUInt32LE(draft.facets.length, at + 8);
    buffer.writeUInt32LE(body.length, at + 12);
    at += HEADER;
    // A slug is ASCII by the language file's schema.
    at += buffer.write(draft.room, at, 'latin1');
    if (draft.key !== undefined) {
      buffer.set(draft.key, at);
      at += KEY_SIZE;
    }
    buffer.set(draft.facets, at);
    at += draft.facets.length;
    buffer.set(body, at);
    at += body.length;
  }
  return buffer.buffer;
}

export function unpack(packed: ArrayBuffer): Packed[] {
  const buffer = Buffer.from(packed);
  const drafts: Packed[] = [];
  let at = 0;
  const take = (size: number): Buffer => buffer.subarray(at, (at += size));
  while (at < buffer.length) {
    const kind = KINDS[buffer[at] ?? 0] ?? KINDS[0];
    const flags = buffer[at + 1] ?? 0;
    const ofRoom = buffer.readUInt32LE(at + 4);
    const ofFacets = buffer.readUInt32LE(at + 8);
    const ofBody = buffer.readUInt32LE(at + 12);
    at += HEADER;
    const room = buffer.toString('latin1', at, (at += ofRoom));
    const key = (flags & 1) === 0 ? undefined : take(KEY_SIZE);
    const facets = take(ofFacets);
    const body = take(ofBody);
    const large: LargeBody | undefined =
      (flags & 2) === 0 ? undefined : (JSON.parse(body.toString()) as LargeBody);
    drafts.push({ kind, room, facets, key, body, large });
  }
  return drafts;
}

export const OUTCOMES = [
  'appended',
  'repeated',
  'conflict',
  'out-of-space',
  'unavailable',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Numbers of one outcome: place in `OUTCOMES`, seq, time, salt. */
export const OUTCOME_WIDTH = 4;
