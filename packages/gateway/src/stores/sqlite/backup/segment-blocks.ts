/**
 * The blocks of a segment, in one file: for each the key and the size of its row in the log, and its
 * bytes. So blocks are read back as they were, even those that were spoiled in the log.
 */
import type { DatabaseSync } from 'node:sqlite';

import { isSpoiled } from '../database.ts';
import { openRegular } from '../plain-file.ts';
import type { SeqSpan } from '../log/block-reader.ts';
import { Block } from '../log/blocks.ts';
import type { WithheldLookup } from '../log/withheld-entry.ts';

const FRAME_SIZE = 12;
const PAGE_BLOCKS = 128;

/** The blocks of these entries. Leaves out those in pages that SQLite cannot read. */
export function* storedBlocks(log: DatabaseSync, { from, to }: SeqSpan): Generator<Block> {
  const select = log.prepare(
    'SELECT first, data FROM blocks WHERE first BETWEEN ? AND ? ORDER BY first LIMIT ?',
  );
  let count = PAGE_BLOCKS;
  for (let at = from; at <= to;) {
    try {
      const rows = select.all(at, to, count);
      for (const { first, data } of rows) yield new Block(Number(first), bufferOf(data));
      if (rows.length === 0) return;
      count = PAGE_BLOCKS;
      at = Number(rows.at(-1)?.['first']) + 1;
    } catch (error) {
      if (!isSpoiled(error)) throw error;
      if (count === 1) at += 1;
      count = 1;
    }
  }
}

export function frameOf({ first, data }: Block): [header: Buffer, data: Buffer] {
  const header = Buffer.allocUnsafe(FRAME_SIZE);
  header.writeDoubleLE(first);
  header.writeUInt32LE(data.length, 8);
  return [header, data];
}

/** Reads the whole file, which is little larger than a segment may be. */
export async function readBlocks(file: string, withheld: WithheldLookup): Promise<Block[]> {
  await using handle = await openRegular(file);
  const bytes = await handle.readFile();
  const blocks: Block[] = [];
  for (let at = 0; at + FRAME_SIZE <= bytes.length;) {
    const first = bytes.readDoubleLE(at);
    const end = at + FRAME_SIZE + bytes.readUInt32LE(at + 8);
    blocks.push(new Block(first, bytes.subarray(at + FRAME_SIZE, end), withheld));
    at = end;
  }
  return blocks;
}

function bufferOf(data: unknown): Buffer {
  const { buffer, byteOffset, length } = data as Uint8Array;
  return Buffer.from(buffer, byteOffset, length);
}
