/** The language that a gateway speaks, read from its file. */
import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { packagedLanguage } from '@open-presence/protocol/packaged-language';

import type { LoadedLanguage } from './http/context.ts';

const OWN_LANGUAGE = new URL('../mova-snu.yaml', import.meta.resolve('@open-presence/protocol'));

/**
 * The language in a file; without a path, the one that comes with the gateway. Rejects with
 * `LanguageError` for a file that cannot be used.
 */
export async function loadLanguage(path: string | undefined): Promise<LoadedLanguage> {
  const file = path ?? fileURLToPath(OWN_LANGUAGE);
  return await parseLanguageBytes(await bytesOf(file), path);
}

/** The same from the bytes of the file, as another thread has read them. */
export async function parseLanguageBytes(
  text: Uint8Array,
  path: string | undefined,
): Promise<LoadedLanguage> {
  const decoded = decodedOf(path ?? 'mova-snu.yaml', text);
  if (path === undefined) return { text, language: packagedLanguage(decoded) };
  const { parseLanguage } = await import('@open-presence/protocol/language-file');
  return { text, language: parseLanguage(decoded, path) };
}

async function bytesOf(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`Cannot read language file "${file}": ${reason}`, { cause });
  }
}

function decodedOf(file: string, text: Uint8Array): string {
  if (isUtf8(text)) return new TextDecoder().decode(text);
  throw new Error(`Cannot read language file "${file}": it must be text in UTF-8`);
}
