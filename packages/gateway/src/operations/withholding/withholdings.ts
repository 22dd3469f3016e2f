/** What was withheld, as the wire says it (PROTOCOL.md section 4.7). */
import type { WithholdingDocument } from '@open-presence/protocol';

import type { Entry, Withholding } from '../../log/log.ts';

export function withholdingDocument({
  number,
  metadata,
  time,
  reason,
  state,
}: Withholding): WithholdingDocument {
  const { id, seq, kind, room } = metadata;
  const timestamp = new Date(metadata.time).toISOString();
  const at = new Date(time).toISOString();
  return { number, id, seq, kind, room, timestamp, at, reason, state };
}

/** The member `withheld` of an entry; undefined where nothing was taken away. */
export function withheldMember({ withheld }: Entry): { at: string; reason: string } | undefined {
  return withheld && { at: new Date(withheld.time).toISOString(), reason: withheld.reason };
}
