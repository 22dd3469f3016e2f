/**
 * Loads what the operator decides of the words: the language, in a thread of its own, which takes the memory
 * of the parser with it, and the texts that only visitors read.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Language } from '@open-presence/protocol';

import { postedBy, threadModule } from './thread-module.ts';

/** A language, and the bytes that it was read from. */
export interface LoadedLanguage {
  readonly language: Language;
  readonly text: Uint8Array;
}

/** Without a path: the packaged language. Rejects with an error that names the file and all its faults. */
export async function loadLanguage(path: string | undefined): Promise<LoadedLanguage> {
  const module = threadModule('./language-thread', import.meta.url);
  return (await postedBy(module, path)) as LoadedLanguage;
}

/** What the operator has written for visitors, as Markdown: `privacy.md` and `terms.md` in the data folder. */
type OwnTexts = ReadonlyMap<string, string>;

/** What the operator may change while the gateway runs. */
export interface ReloadedSettings {
  /** Path of a language file; without one, the language that comes with the gateway. */
  readonly language?: string | undefined;
  /** Public address for absolute links; without it, the caller's `Host`. */
  readonly publicUrl?: string | undefined;
}

export interface LoadedWords extends LoadedLanguage {
  readonly publicUrl: string | undefined;
  readonly ownTexts: OwnTexts;
}

/** Rejects where a text is there and cannot be read. */
export async function readOwnTexts(dataFolder: string): Promise<OwnTexts> {
  const ownTexts = new Map<string, string>();
  for (const name of ['privacy', 'terms']) {
    const text = await textOf(join(dataFolder, `${name}.md`));
    if (text !== undefined) ownTexts.set(name, text);
  }
  return ownTexts;
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    const reason = cause instanceof TypeError ? 'it is not text in UTF-8' : messageOf(cause);
    throw new Error(`Cannot read "${path}": ${reason}`, { cause });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
