/**
 * Whether the owner lets nothing be stored, and why: in a file of the folder, so that a restart keeps it. In a cluster,
 * the stream has it, and the file what this gateway last heard.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

import { isMissing } from './checked-file.ts';
import type { DataPaths } from './data-paths.ts';
import { flushFolder } from './prepare-folder.ts';
import type { SharedState } from './shared-state.ts';

export class ReadOnlySwitch {
  readonly #paths: DataPaths;
  readonly #shared: SharedState;
  #known = 0;
  #reason = '';

  constructor(paths: DataPaths, shared: SharedState) {
    this.#paths = paths;
    this.#shared = shared;
  }

  /** Undefined while entries are stored. */
  get reason(): string | undefined {
    const { readOnly } = this.#shared;
    if (readOnly === 0) return undefined;
    if (readOnly !== this.#known) this.#reason = readReason(this.#paths) ?? '';
    this.#known = readOnly;
    return this.#reason;
  }

  /** For one thread: the one that owns the log, or in a cluster that of the stream. All threads know at once. */
  set(reason: string | undefined): void {
    const { folder, readOnly } = this.#paths;
    if (reason === undefined) rmSync(readOnly, { force: true });
    else {
      const unfinished = `${readOnly}.new`;
      writeFileSync(unfinished, reason, { flush: true });
      renameSync(unfinished, readOnly);
    }
    flushFolder(folder);
    this.#shared.readOnly =
      reason === undefined ? 0 : Math.max(Date.now(), this.#shared.readOnly + 1);
  }

  /** As the folder says, when the log is opened. */
  static restore(paths: DataPaths, shared: SharedState): void {
    shared.readOnly = readReason(paths) === undefined ? 0 : Date.now();
  }
}

function readReason({ readOnly }: DataPaths): string | undefined {
  try {
    return readFileSync(readOnly, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
