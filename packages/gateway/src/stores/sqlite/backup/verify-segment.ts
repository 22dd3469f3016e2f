/** Verifies the entries of a segment by their links. */
import { join } from 'node:path';

import { assertStorageFault } from '../../../storage-fault.ts';
import { dataPathsIn } from '../data-paths.ts';
import { openForReading } from '../database.ts';
import { RowReader } from '../log/row-reader.ts';
import { ChainVerifier, type LogFault } from '../log/chain-verifier.ts';
import type { EntryRow } from '../log/entry-row.ts';
import { OTHER_FACETS } from '../repair/verify.ts';
import type { BackupPaths } from './backup-folder.ts';
import type { Segment } from './manifest.ts';
import { segmentFiles } from './segment-files.ts';
import { rowsFile, type WrittenSegment } from './write-segments.ts';

export interface SegmentCheck {
  readonly segment: Segment;
  readonly faults: readonly LogFault[];
}

/** `previous`: the link before its first entry, in hex; undefined where it is unknown. */
export async function verifySegment(
  paths: BackupPaths,
  segment: WrittenSegment,
  previous: string | undefined,
): Promise<SegmentCheck> {
  const { from, to, name } = segment;
  const files = dataPathsIn(join(paths.segments, name));
  const start = previous === undefined ? undefined : Buffer.from(previous, 'hex');
  const verifier = new ChainVerifier(files, start && { seq: from - 1, link: start });
  if (start === undefined) verifier.skip(from - 1);
  const faults: LogFault[] = [];
  let last: EntryRow | undefined;
  try {
    segmentFiles(paths, segment);
    using db = openForReading(rowsFile(paths, segment));
    for (const row of new RowReader(db).rowsAndSpoiled({ from, to })) {
      if ('error' in row) {
        verifier.skip(row.seq);
        faults.push({ seq: row.seq, description: `cannot be read (${row.error.message})` });
        continue;
      }
      faults.push(...(await verifier.verify(row, undefined)));
      if (!row.isWhole) faults.push({ seq: row.seq, description: OTHER_FACETS });
      last = row;
    }
  } catch (error) {
    assertStorageFault(error);
    const description = `is in a file that cannot be read (${error.message})`;
    faults.push({ seq: from, description });
  }
  if (verifier.next <= to) {
    const description = `is missing, and so are all up to ${to}`;
    faults.push({ seq: verifier.next, description });
  }
  const { entries } = verifier;
  const { link, time } = last?.seq === to ? last : { link: undefined, time: undefined };
  const verified = {
    ...segment,
    entries,
    faults: faults.length,
    link: link?.toString('hex'),
    time,
  };
  return { segment: verified, faults };
}
