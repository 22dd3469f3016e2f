/**
 * Copies entries of a log into new segments: their blocks, and the files of large bodies. Of an entry that
 * is withheld, nothing is copied that the visitor said, although the log may still have it for a moment.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, mkdir, open, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

import { type DataPaths, dataPathsIn } from '../data-paths.ts';
import { readable } from '../database.ts';
import type { SeqSpan } from '../log/block-reader.ts';
import type { Block } from '../log/blocks.ts';
import { filesOf, finalPath } from '../log/large-files.ts';
import { unerased } from '../log/withheld-table.ts';
import { flushFolder } from '../prepare-folder.ts';
import type { BackupPaths } from './backup-folder.ts';
import type { Segment } from './manifest.ts';
import { frameOf, storedBlocks } from './segment-blocks.ts';
import { withholdingLines } from './segment-withholdings.ts';

/** A segment of so many bytes, with its large files, is complete. Smaller ones are written again. */
const SEGMENT_SIZE = 16 * 1024 * 1024;
const SEQ_DIGITS = 16;

export type WrittenSegment = Pick<Segment, 'name' | 'from' | 'to' | 'bytes'>;

export interface LogSource {
  readonly db: DatabaseSync;
  readonly paths: DataPaths;
}

export function isComplete({ bytes }: Pick<Segment, 'bytes'>): boolean {
  return bytes >= SEGMENT_SIZE;
}

export function blocksFile(paths: BackupPaths, segment: Pick<Segment, 'name'>): string {
  return join(paths.segments, segment.name, 'blocks');
}

export function withheldFile(paths: BackupPaths, segment: Pick<Segment, 'name'>): string {
  return join(paths.segments, segment.name, 'withheld');
}

/** One after another. Each is flushed. */
export async function* writeSegments(
  source: LogSource,
  span: SeqSpan,
  target: BackupPaths,
): AsyncGenerator<WrittenSegment> {
  let segment = new SegmentWriter(source, target, span.from);
  for (const block of storedBlocks(source.db, span)) {
    if (isComplete(segment)) {
      yield await segment.finish(block.first - 1);
      segment = new SegmentWriter(source, target, block.first);
    }
    await segment.add(block);
  }
  yield await segment.finish(span.to);
}

class SegmentWriter {
  /** Of all files. */
  bytes = 0;
  readonly #source: LogSource;
  readonly #target: BackupPaths;
  readonly #from: number;
  readonly #name: string;
  readonly #folder: string;
  readonly #frames: Buffer[] = [];
  /** Their records may not be marked yet. */
  readonly #unerased: ReadonlySet<number>;
  readonly #withholdingOf: (seq: number) => string;
  #withholdings = '';

  constructor(source: LogSource, target: BackupPaths, from: number) {
    this.#source = source;
    this.#target = target;
    this.#from = from;
    this.#name = `${String(from).padStart(SEQ_DIGITS, '0')}-${randomBytes(4).toString('hex')}`;
    this.#folder = join(target.segments, this.#name);
    this.#unerased = new Set(unerased(source.db));
    this.#withholdingOf = withholdingLines(source.db);
  }

  async add(block: Block): Promise<void> {
    const files = dataPathsIn(this.#folder);
    for (let seq = block.first; seq <= block.last; seq += 1) {
      const stored = readable(() => block.stored(seq));
      const mayBeWithheld = stored === undefined || stored.isWithheld || this.#unerased.has(seq);
      const withholding = mayBeWithheld ? this.#withholdingOf(seq) : '';
      if (withholding !== '') {
        this.#withholdings += withholding;
        block.erase(seq);
      } else if (stored?.large !== undefined)
        for (const file of filesOf(stored.large))
          this.bytes += await copyLarge(this.#source.paths, files, file);
    }
    for (const part of frameOf(block)) {
      this.#frames.push(part);
      this.bytes += part.length;
    }
  }

  async finish(to: number): Promise<WrittenSegment> {
    const { bytes } = this;
    await mkdir(this.#folder, { recursive: true });
    const segment = { name: this.#name, from: this.#from, to, bytes };
    await writeFlushed(blocksFile(this.#target, segment), Buffer.concat(this.#frames));
    if (this.#withholdings !== '')
      await writeFlushed(withheldFile(this.#target, segment), this.#withholdings);
    for (const folder of [this.#folder, this.#target.segments]) flushFolder(folder);
    return segment;
  }
}

async function writeFlushed(file: string, content: string | Uint8Array): Promise<void> {
  await using handle = await open(file, 'w');
  await handle.writeFile(content);
  await handle.sync();
}

/** Returns its size; 0 where there is none: not every body has all files, and some may be lost. */
async function copyLarge(source: DataPaths, target: DataPaths, file: string): Promise<number> {
  const to = finalPath(target, file);
  for (const from of [finalPath(source, file), join(source.incoming, file)]) {
    try {
      await stat(from);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') continue;
      throw error;
    }
    await mkdir(dirname(to), { recursive: true });
    await copyFile(from, to, constants.COPYFILE_FICLONE);
    await using copy = await open(to, 'r+');
    await copy.sync();
    for (const folder of [dirname(to), target.large]) flushFolder(folder);
    return (await copy.stat()).size;
  }
  return 0;
}
