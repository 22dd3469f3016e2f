/** The payload of the message `withhold`: JSON, an array of `StreamWithholding`. */
import type { OrderedWithholding, Replica } from '@open-presence/gateway/replica';

import type { PlacedMessage } from './message.ts';

interface StreamWithholding {
  readonly seq: number;
  readonly reason: string;
  /** In hex. */
  readonly digest: string;
}

/** Servers take a mebibyte at least. */
const MAX_SIZE = 512 * 1024;

/** As few payloads as the items fit into; one if there are none. */
export function packWithholdings(items: readonly OrderedWithholding[]): Uint8Array[] {
  const payloads: Buffer[] = [];
  let packed: string[] = [];
  let size = 0;
  for (const { seq, reason, digest } of items) {
    const item: StreamWithholding = { seq, reason, digest: Buffer.from(digest).toString('hex') };
    const text = JSON.stringify(item);
    size += Buffer.byteLength(text) + 1;
    if (size > MAX_SIZE && packed.length > 0) {
      payloads.push(Buffer.from(`[${packed.join()}]`));
      packed = [];
      size = Buffer.byteLength(text) + 1;
    }
    packed.push(text);
  }
  return [...payloads, Buffer.from(`[${packed.join()}]`)];
}

export function unpackWithholding({
  payload,
  time,
}: PlacedMessage): Parameters<Replica['withhold']>[0] {
  const items = JSON.parse(Buffer.from(payload).toString()) as readonly StreamWithholding[];
  return items.map(({ seq, reason, digest }) => ({
    seq,
    reason,
    time,
    digest: Buffer.from(digest, 'hex'),
  }));
}
