/**
 * Runs: sequences of about a megabyte of entries of one kind, joined newest first as a listing
 * returns them, in one file per kind. Reading a whole kind is then reading a file. Large entries are
 * in no run: a run ends before them.
 */
import { join } from 'node:path';

import type { Kind } from '@open-presence/protocol';

import type { Seq } from '../../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';

/** A run is written when it has this many bytes of entries. */
export const RUN_SIZE: number = 1024 * 1024;
/** Joins the entries of a run. */
export const RUN_JOINER = ',\n';

export interface Run {
  readonly first: Seq;
  readonly last: Seq;
  readonly count: number;
  /** Bytes in the file of the kind. */
  readonly position: number;
  readonly length: number;
}

export function runsFile(paths: DataPaths, kind: Kind): string {
  return join(paths.runs, kind);
}
