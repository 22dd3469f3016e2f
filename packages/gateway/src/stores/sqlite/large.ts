/**
 * Entries too large for a row: their bodies lie in files of their own, written as they arrive, so
 * that a visitor who uploads for an hour keeps nobody waiting. A file comes in under `incoming`,
 * is flushed before its entry is committed, and moves to its place afterwards; what a crash leaves
 * under `incoming` is settled or removed at the next start, as the log says.
 */
import { createHash, randomUUID, type Hash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

import { GatewayError } from '@open-presence/protocol';

import { FACET_SIZE } from '../../log/facet.ts';
import type { Spool } from '../../log/log.ts';
import type { LargeBody } from './batch.ts';
import type { Places } from './schema.ts';

const MARKS = '.facets';
const PIECE = 256 * 1024;
const BRACE = Buffer.from('}');

/** A body on its way into a file. */
export class FileSpool implements Spool {
  readonly #places: Places;
  readonly #name: string = randomUUID();
  readonly #digest: Hash = createHash('sha256');
  #body: FileHandle | undefined;
  #facets: FileHandle | undefined;
  #size = 0;
  #marks = 0;
  #sealed = false;

  constructor(places: Places) {
    this.#places = places;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#digest.update(bytes);
    await this.#guard(async () => {
      this.#body ??= await open(join(this.#places.incoming, this.#name), 'w');
      await this.#body.writeFile(bytes);
    });
    this.#size += bytes.length;
  }

  async mark(facets: Uint8Array): Promise<void> {
    await this.#guard(async () => {
      this.#facets ??= await open(join(this.#places.incoming, this.#name + MARKS), 'w');
      await this.#facets.writeFile(facets);
    });
    this.#marks += facets.length / FACET_SIZE;
  }

  /** Ends the body and flushes it. From then on the file belongs to the writer. */
  async seal(): Promise<LargeBody> {
    const digest = this.#digest.digest('hex');
    await this.#guard(async () => {
      this.#body ??= await open(join(this.#places.incoming, this.#name), 'w');
      await this.#body.writeFile(BRACE);
      for (const handle of [this.#body, this.#facets]) await handle?.sync();
      await this.#close();
      const folder = await open(this.#places.incoming, 'r');
      try {
        await folder.sync();
      } finally {
        await folder.close();
      }
    });
    this.#sealed = true;
    return { name: this.#name, size: this.#size + BRACE.length, digest, marks: this.#marks };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#sealed) return;
    this.#sealed = true;
    await this.#close();
    await rm(join(this.#places.incoming, this.#name), { force: true });
    await rm(join(this.#places.incoming, this.#name + MARKS), { force: true });
  }

  async #close(): Promise<void> {
    const handles = [this.#body, this.#facets];
    this.#body = this.#facets = undefined;
    for (const handle of handles) await handle?.close();
  }

  async #guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      await this[Symbol.asyncDispose]();
      const full = error instanceof Error && 'code' in error && error.code === 'ENOSPC';
      throw full
        ? new GatewayError(
            'out-of-space',
            'Cannot store the entry: the disk is full. Try again later.',
          )
        : new GatewayError(
            'unavailable',
            'Cannot store the entry: writing to the disk failed. Try again later.',
          );
    }
  }
}

export function makeLargeFolders(places: Places): void {
  mkdirSync(places.incoming, { recursive: true });
}

/** Moves a committed body to its place. */
export function settle(places: Places, name: string): void {
  for (const file of [name, name + MARKS]) {
    const from = join(places.incoming, file);
    if (!existsSync(from)) continue;
    const to = placeOf(places, file);
    mkdirSync(dirname(to), { recursive: true });
    renameSync(from, to);
  }
}

/** Removes a body that no entry has. */
export function discard(places: Places, name: string): void {
  rmSync(join(places.incoming, name), { force: true });
  rmSync(join(places.incoming, name + MARKS), { force: true });
}

/** Settles or removes what an earlier process left behind. */
export function sweepIncoming(db: DatabaseSync, places: Places): void {
  const kept = db.prepare('SELECT 1 FROM entries WHERE large = ?');
  for (const file of readdirSync(places.incoming)) {
    const name = file.endsWith(MARKS) ? file.slice(0, -MARKS.length) : file;
    if (kept.get(name) === undefined) discard(places, name);
    else settle(places, name);
  }
}

/** The visitor's members of a large entry with the closing brace, in pieces. */
export function largePieces(places: Places, name: string): AsyncGenerator<Uint8Array> {
  return filePieces(places, name);
}

/** The facets that did not fit the row, in pieces of whole facets. */
export function* largeFacetsSync(places: Places, name: string): Generator<Uint8Array> {
  const file = name + MARKS;
  const settled = placeOf(places, file);
  const handle = openSync(existsSync(settled) ? settled : join(places.incoming, file), 'r');
  try {
    const buffer = Buffer.alloc(PIECE);
    for (let size = 1; size > 0;) {
      size = readSync(handle, buffer);
      yield buffer.subarray(0, size);
    }
  } finally {
    closeSync(handle);
  }
}

async function* filePieces(places: Places, file: string): AsyncGenerator<Uint8Array> {
  const handle = await openSettled(places, file);
  try {
    for (;;) {
      // A fresh buffer each time: the reader may still hold the one before.
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafeSlow(PIECE), 0, PIECE);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

/** The file moves once, from `incoming` to its place, perhaps while we look. */
async function openSettled(places: Places, file: string): Promise<FileHandle> {
  const place = placeOf(places, file);
  try {
    return await open(place);
  } catch {
    return await open(join(places.incoming, file)).catch(() => open(place));
  }
}

/** Spread over 256 folders: some file systems are slow with a million files in one. */
function placeOf(places: Places, file: string): string {
  return join(places.large, file.slice(0, 2), file);
}
