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

import { FILTER_MEMBERS, type Filter, GatewayError } from '@open-presence/protocol';

import type { Spool } from '../../../log/log.ts';
import type { LargeBody } from './batch.ts';
import type { DataPaths } from '../schema.ts';

const PIECE = 256 * 1024;
/** What the system gathers of one body would keep the flushes of small entries waiting. */
const FLUSHED_TOGETHER = 8 * 1024 * 1024;
const BRACE = Buffer.from('}');
const FILTERS_MARKED = Object.keys(FILTER_MEMBERS) as Filter[];

/** The files that a body may have: its text, and the facets of each filter. */
function filesOf(name: string): string[] {
  return [name, ...FILTERS_MARKED.map((filter) => marksOf(name, filter))];
}

function marksOf(name: string, filter: Filter): string {
  return `${name}.${filter}`;
}

/** A body on its way into a file. */
export class FileSpool implements Spool {
  readonly #places: DataPaths;
  readonly #unended: Set<FileSpool>;
  readonly #name: string = randomUUID();
  readonly #digest: Hash = createHash('sha256');
  #body: FileHandle | undefined;
  readonly #marked = new Map<Filter, FileHandle>();
  #size = 0;
  #unflushed = 0;
  #sealed = false;

  /** `unended`: those that a closing log must dispose of. */
  constructor(places: DataPaths, unended: Set<FileSpool>) {
    this.#places = places;
    this.#unended = unended;
    unended.add(this);
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#digest.update(bytes);
    await this.#guard(async () => {
      const file = await this.#text();
      await file.writeFile(bytes);
      this.#size += bytes.length;
      this.#unflushed += bytes.length;
      if (this.#unflushed < FLUSHED_TOGETHER) return;
      this.#unflushed = 0;
      await file.datasync();
    });
  }

  async addFacets(facets: Uint8Array, filter: Filter): Promise<void> {
    await this.#guard(async () => {
      let handle = this.#marked.get(filter);
      if (handle === undefined) {
        handle = await open(join(this.#places.incoming, marksOf(this.#name, filter)), 'w');
        this.#marked.set(filter, handle);
      }
      await handle.writeFile(facets);
    });
  }

  async removeFacets(filter: Filter): Promise<void> {
    const handle = this.#marked.get(filter);
    if (handle === undefined) return;
    this.#marked.delete(filter);
    await this.#guard(async () => {
      await handle.close();
      await rm(join(this.#places.incoming, marksOf(this.#name, filter)), { force: true });
    });
  }

  /** Ends the body and flushes it. From then on the files belong to the writer. */
  async seal(): Promise<LargeBody> {
    const digest = this.#digest.digest('hex');
    const marked = this.#marked.size > 0;
    await this.#guard(async () => {
      await (await this.#text()).writeFile(BRACE);
      for (const handle of this.#handles()) await handle.sync();
      await this.#close();
      const folder = await open(this.#places.incoming, 'r');
      try {
        await folder.sync();
      } finally {
        await folder.close();
      }
    });
    this.#sealed = true;
    return { name: this.#name, size: this.#size + BRACE.length, digest, marked };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#sealed) return;
    this.#sealed = true;
    await this.#close();
    for (const file of filesOf(this.#name)) {
      await rm(join(this.#places.incoming, file), { force: true });
    }
  }

  async #text(): Promise<FileHandle> {
    this.#body ??= await open(join(this.#places.incoming, this.#name), 'w');
    return this.#body;
  }

  #handles(): FileHandle[] {
    return [...(this.#body === undefined ? [] : [this.#body]), ...this.#marked.values()];
  }

  async #close(): Promise<void> {
    this.#unended.delete(this);
    const handles = this.#handles();
    this.#body = undefined;
    this.#marked.clear();
    for (const handle of handles) await handle.close();
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

export function makeLargeFolders(places: DataPaths): void {
  mkdirSync(places.incoming, { recursive: true });
}

/** Moves a committed body to its place. */
export function settle(places: DataPaths, name: string): void {
  for (const file of filesOf(name)) {
    const from = join(places.incoming, file);
    if (!existsSync(from)) continue;
    const to = placeOf(places, file);
    mkdirSync(dirname(to), { recursive: true });
    renameSync(from, to);
  }
}

/** Removes a body that no entry has. */
export function discard(places: DataPaths, name: string): void {
  for (const file of filesOf(name)) rmSync(join(places.incoming, file), { force: true });
}

/** The bodies that an earlier process left behind. */
export function incomingNames(places: DataPaths): Set<string> {
  return new Set(readdirSync(places.incoming).map((file) => file.split('.', 1)[0] ?? file));
}

/** The visitor's members of a large entry with the closing brace, in pieces. */
export async function* largePieces(
  places: DataPaths,
  name: string,
  from = 0,
): AsyncGenerator<Uint8Array> {
  const handle = await openSettled(places, name);
  const buffer = Buffer.allocUnsafeSlow(PIECE);
  try {
    for (let at = from; ;) {
      const { bytesRead } = await handle.read(buffer, 0, PIECE, at);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  } finally {
    await handle.close();
  }
}

/** The same for a thread that may wait for the disk. Each piece is there until the next one. */
export function largePiecesInPlace(places: DataPaths, name: string): Generator<Uint8Array> {
  return piecesInPlace(places, name);
}

/** The facets that did not fit the row, in pieces of whole facets. */
export function* largeFacets(places: DataPaths, name: string): Generator<Uint8Array> {
  for (const filter of FILTERS_MARKED) yield* piecesInPlace(places, marksOf(name, filter));
}

/** None of a file that is not there. */
function* piecesInPlace(places: DataPaths, file: string): Generator<Uint8Array> {
  const place = [placeOf(places, file), join(places.incoming, file)].find(existsSync);
  if (place === undefined) return;
  const handle = openSync(place, 'r');
  try {
    const buffer = Buffer.alloc(PIECE);
    for (let size = readSync(handle, buffer); size > 0; size = readSync(handle, buffer)) {
      yield buffer.subarray(0, size);
    }
  } finally {
    closeSync(handle);
  }
}

/** The file moves once, from `incoming` to its place, perhaps while we look. */
async function openSettled(places: DataPaths, file: string): Promise<FileHandle> {
  const place = placeOf(places, file);
  try {
    return await open(place);
  } catch {
    return await open(join(places.incoming, file)).catch(() => open(place));
  }
}

/** Spread over 256 folders: some file systems are slow with a million files in one. */
function placeOf(places: DataPaths, file: string): string {
  return join(places.large, file.slice(0, 2), file);
}
