/** What was withheld, as the wire says it (PROTOCOL.md section 4.7). */
import type { WithholdingDocument } from '@open-presence/protocol';

import type { Withholding } from '../log/log.ts';

export function withholdingDocument({
  number,
  stamp,
  time,
  reason,
}: Withholding): WithholdingDocument {
  const { id, seq, kind, room } = stamp;
  const timestamp = new Date(stamp.time).toISOString();
  return { number, id, seq, kind, room, timestamp, at: new Date(time).toISOString(), reason };
}
