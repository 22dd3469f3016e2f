/**
 * The file `last-commit`: name, last seq and last link of the log, written after each commit. It is
 * not flushed, so it may be older than the log after a power cut, but it is never ahead of it. A
 * start that finds it ahead knows that the log has lost entries.
 */
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';

import type { Seq } from '../../../log/log.ts';
import { assertStorageFault } from '../../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import { sumOf } from '../checked-file.ts';

export interface LogPosition {
  readonly log: string;
  readonly seq: Seq;
  /** In hex; undefined where it is unknown. */
  readonly link: string | undefined;
}

/** Enough for any seq, so that a line always overwrites the one before. */
const SEQ_DIGITS = 16;
const LINE = /^([\da-f]{16}) (\d{16}) ([\da-f]{64})$/;

export class LastCommitFile implements Disposable {
  readonly #path: string;
  readonly #log: string;
  #handle: number | undefined;
  #fault: Error | undefined;

  constructor(paths: DataPaths, log: string) {
    this.#path = paths.lastCommit;
    this.#log = log;
  }

  /** Why the last attempt to write failed; undefined if it succeeded. */
  get fault(): Error | undefined {
    return this.#fault;
  }

  /** A disk that refuses it changes nothing: the commit is durable without it. */
  write(seq: Seq, link: Uint8Array): void {
    const text = textOf({ log: this.#log, seq, link: Buffer.from(link).toString('hex') });
    try {
      this.#handle ??= openSync(this.#path, constants.O_WRONLY | constants.O_CREAT);
      writeSync(this.#handle, text, 0);
      this.#fault = undefined;
    } catch (error) {
      assertStorageFault(error);
      this.#fault = error;
    }
  }

  [Symbol.dispose](): void {
    if (this.#handle !== undefined) closeSync(this.#handle);
    this.#handle = undefined;
  }
}

/** Undefined if there is none, or one that a power cut or a disk has spoiled. */
export function readLastCommit(paths: DataPaths): LogPosition | undefined {
  let text: string;
  try {
    text = readFileSync(paths.lastCommit, 'latin1');
  } catch (error) {
    assertStorageFault(error);
    return undefined;
  }
  const [line, checksum] = [text.slice(0, -10), text.slice(-9, -1)];
  const [, log = '', seq, link] = LINE.exec(line) ?? [];
  return checksum === sumOf(line) ? { log, seq: Number(seq), link } : undefined;
}

function textOf({ log, seq, link }: LogPosition): string {
  const line = `${log} ${String(seq).padStart(SEQ_DIGITS, '0')} ${link}`;
  return `${line} ${sumOf(line)}\n`;
}
