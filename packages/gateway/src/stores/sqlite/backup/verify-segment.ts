/** Verifies the entries of a segment by their links. */
import { join } from 'node:path';

import { assertStorageFault } from '../../../storage-fault.ts';
import { dataPathsIn } from '../data-paths.ts';
import { isSpoiled } from '../database.ts';
import type { Block } from '../log/blocks.ts';
import { ChainVerifier, type LogFault } from '../log/chain-verifier.ts';
import type { EntryRow } from '../log/record.ts';
import type { BackupPaths } from './backup-folder.ts';
import type { Segment } from './manifest.ts';
import { readBlocks } from './segment-blocks.ts';
import { segmentFiles } from './segment-files.ts';
import { lookupIn, readWithholdings } from './segment-withholdings.ts';
import { blocksFile, withheldFile, type WrittenSegment } from './write-segments.ts';

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
  for (const block of await blocksOf(paths, segment, faults)) {
    for (let seq = block.first; seq <= Math.min(block.last, to); seq += 1) {
      const row = rowOf(block, seq);
      if (row instanceof Error) {
        verifier.skip(seq);
        faults.push({ seq, description: `cannot be read (${row.message})` });
        continue;
      }
      faults.push(...(await verifier.verify(row, undefined)));
      last = row;
    }
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

async function blocksOf(
  paths: BackupPaths,
  segment: WrittenSegment,
  faults: LogFault[],
): Promise<Block[]> {
  try {
    segmentFiles(paths, segment);
    const withholdings = readWithholdings(withheldFile(paths, segment));
    return await readBlocks(blocksFile(paths, segment), lookupIn(withholdings));
  } catch (error) {
    assertStorageFault(error);
    faults.push({
      seq: segment.from,
      description: `is in a file that cannot be read (${error.message})`,
    });
    return [];
  }
}

function rowOf(block: Block, seq: number): EntryRow | Error {
  try {
    return block.entry(seq) ?? new Error('it is missing');
  } catch (error) {
    if (isSpoiled(error)) return error;
    throw error;
  }
}
