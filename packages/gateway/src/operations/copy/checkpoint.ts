import type { Checkpoint } from '@open-presence/protocol';

import type { Log, Seq } from '../../log/log.ts';

/** A position in the log, as PROTOCOL.md section 20.2 writes it. Throws `unavailable` where its link cannot be read. */
export function checkpointOf(log: Log, seq: Seq): Checkpoint {
  return { log: log.id, head: seq, link: log.linkAt(seq) };
}
