/** Makes a log of another gateway's lines. */
import type { Checkpoint, Language } from '@open-presence/protocol';

import { createGrammar } from './intake/grammar.ts';
import { loadLanguage } from './load-language.ts';
import type { LogCopier, WithholdingCopy } from './log/log-copier.ts';
import { EntryCopier } from './operations/copy/copy-entries.ts';
import { refuseBackup } from './store/backup/description.ts';
import { openLogCopy as openStoreCopy } from './store/store.ts';

export { CopyRefusal } from './operations/copy/copy-entries.ts';

const FIRST_LINK = '0'.repeat(64);

export interface LogCopyOptions {
  /** Folder of the copy; created if missing. */
  readonly data: string;
  /** The name of the log. */
  readonly name: string;
  /** Path of a language file; without one, the language that comes with the gateway. */
  readonly language: string | undefined;
  /** Threads in libuv's pool (`UV_THREADPOOL_SIZE`). */
  readonly fileThreads?: number | undefined;
}

/** A log that is continued as a copy of another. */
export interface ContinuedLog {
  readonly entries: EntryCopier;
  /** The seq of the newest durable entry, 0 in an empty log. */
  head(): number;
  /** The position after that entry. */
  checkpoint(): Checkpoint;
}

export interface LogCopy extends ContinuedLog, AsyncDisposable {}

export function copyOf(copier: LogCopier, name: string, language: Language): ContinuedLog {
  return {
    entries: new EntryCopier(copier, createGrammar(language)),
    head: () => copier.head(),
    checkpoint() {
      const head = copier.head();
      const link = head === 0 ? FIRST_LINK : copier.linkAt(head);
      if (link === undefined)
        throw new Error(`Entry ${head}, the last one of the copy, cannot be read.`);
      return { log: name, head, link };
    },
  };
}

/** Throws when another process has the folder, when it has entries of a log of another name, and when it is a backup. */
export async function openLogCopy(options: LogCopyOptions): Promise<LogCopy> {
  const { data: folder, name, fileThreads } = options;
  refuseBackup(folder);
  const { language } = await loadLanguage(options.language);
  const store = await openStoreCopy({ folder, name, fileThreads });
  const copy = copyOf(store.copier, name, language);
  return { ...copy, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

/** Repeats cases, in order, with their times. The folder has a log of this name, and no gateway runs on it. */
export async function repeatWithholdings(
  data: string,
  name: string,
  cases: readonly WithholdingCopy[],
): Promise<void> {
  await using store = await openStoreCopy({ folder: data, name });
  await store.copier.withhold(cases);
}
