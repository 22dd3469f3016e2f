/**
 * What the table `withheld` has of the entries in a segment, in a file: a line of JSON for each, in the
 * order of the entries. Without such an entry, there is no file.
 */
import { closeSync, lstatSync, readFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import { openRegularSync } from '../plain-file.ts';
import type { SeqSpan } from '../log/block-reader.ts';
import type { WithheldLookup } from '../log/withheld-entry.ts';

/** A row of the table. */
export interface SegmentWithholding {
  readonly number: number;
  readonly seq: Seq;
  readonly time: number;
  readonly reason: string;
  /** In hex. */
  readonly digest: string;
}

const COLUMNS = 'number, seq, time, reason, lower(hex(digest)) AS digest';

/** Returns the line of an entry; empty where the log has none. */
export function withholdingLines(log: DatabaseSync): (seq: Seq) => string {
  const find = log.prepare(`SELECT ${COLUMNS} FROM withheld WHERE seq = ?`);
  return (seq) => {
    const row = find.get(seq);
    return row === undefined ? '' : `${JSON.stringify(row)}\n`;
  };
}

/** Whether the log has these withholdings of these entries, and no others. */
export function hasWithholdings(log: DatabaseSync, { from, to }: SeqSpan, file: string): boolean {
  const rows = log.prepare(
    `SELECT ${COLUMNS} FROM withheld WHERE seq BETWEEN ? AND ? ORDER BY seq`,
  );
  const text = textOf(file);
  let at = 0;
  for (const row of rows.iterate(from, to)) {
    const line = `${JSON.stringify(row)}\n`;
    if (!text.startsWith(line, at)) return false;
    at += line.length;
  }
  return at === text.length;
}

export function readWithholdings(file: string): SegmentWithholding[] {
  const lines = textOf(file).split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as SegmentWithholding);
}

export function lookupIn(withholdings: readonly SegmentWithholding[]): WithheldLookup {
  const rows = new Map(
    withholdings.map(({ seq, time, reason, digest }) => [
      seq,
      { time, reason, digest: Buffer.from(digest, 'hex') },
    ]),
  );
  return (seq) => rows.get(seq);
}

function textOf(file: string): string {
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return '';
  const fd = openRegularSync(file);
  try {
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}
