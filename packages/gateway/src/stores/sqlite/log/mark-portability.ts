/** Finds out which entries of a log that was written without knowing it cannot stand beside others. */
import type { DatabaseSync } from 'node:sqlite';

import { GatewayError } from '@open-presence/protocol';

import { JsonHandler } from '../../../json/handler.ts';
import { JsonScanner } from '../../../json/scanner.ts';
import type { Portability } from '../../../log/portability.ts';
import { readable } from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import { Block } from './blocks.ts';
import { largeChunksSync } from './large-files.ts';
import type { StoredEntry } from './record.ts';

const COMMA = 0x2c;

/** Within the caller's transaction. */
export function markPortability(db: DatabaseSync, paths: DataPaths): void {
  const next = db.prepare('SELECT first, data FROM blocks WHERE first > ? ORDER BY first LIMIT 1');
  const update = db.prepare('UPDATE blocks SET data = ? WHERE first = ?');
  for (let row = next.get(0); row !== undefined; row = next.get(row['first'] as number)) {
    const first = row['first'] as number;
    const block = new Block(first, Buffer.from(row['data'] as Uint8Array));
    let hasMarked = false;
    for (let seq = block.first; seq <= block.last; seq += 1) {
      const stored = readable(() => block.stored(seq));
      const portability = stored === undefined ? 'exact' : portabilityOf(stored, paths);
      if (portability === 'exact') continue;
      stored?.mark(portability);
      hasMarked = true;
    }
    if (hasMarked) update.run(block.data, first);
  }
}

/** What is damaged or withheld is not shown as it is. */
function portabilityOf(stored: StoredEntry, paths: DataPaths): Portability {
  if (stored.isWithheld) return 'exact';
  const { head, large } = stored;
  const rest = stored.text.subarray(head);
  const scanner = new JsonScanner(new JsonHandler());
  scanner.startInObject(rest[0] === COMMA);
  try {
    scanner.feed(rest);
    if (large !== undefined) for (const chunk of largeChunksSync(paths, large)) scanner.feed(chunk);
    return scanner.portability;
  } catch (error) {
    if (error instanceof GatewayError) return 'exact';
    throw error;
  }
}
