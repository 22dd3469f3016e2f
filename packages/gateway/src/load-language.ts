/** Reads the language file. */
import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import type { Language } from '@open-presence/protocol';
import { packagedLanguage } from '@open-presence/protocol/packaged-language';

const PACKAGED_FILE = new URL('../mova-snu.yaml', import.meta.resolve('@open-presence/protocol'));

/** A language, and the bytes that it was read from. */
export interface LoadedLanguage {
  readonly language: Language;
  readonly text: Uint8Array;
}

/**
 * Without a path: the packaged language. Rejects with `LanguageError`, or with an error that names
 * the file, if it cannot be used.
 */
export async function loadLanguage(path: string | undefined): Promise<LoadedLanguage> {
  const file = path ?? fileURLToPath(PACKAGED_FILE);
  return await parseLanguageBytes(await readBytes(file), path);
}

/** For worker threads, which get the bytes that the main thread has read. */
export async function parseLanguageBytes(
  text: Uint8Array,
  path: string | undefined,
): Promise<LoadedLanguage> {
  const decoded = decodeUtf8(path ?? 'mova-snu.yaml', text);
  if (path === undefined) return { text, language: packagedLanguage(decoded) };
  const { parseLanguage } = await import('@open-presence/protocol/language-file');
  return { text, language: parseLanguage(decoded, path) };
}

async function readBytes(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`Cannot read language file "${file}": ${reason}`, { cause });
  }
}

function decodeUtf8(file: string, text: Uint8Array): string {
  if (isUtf8(text)) return new TextDecoder().decode(text);
  throw new Error(`Cannot read language file "${file}": it must be text in UTF-8`);
}
