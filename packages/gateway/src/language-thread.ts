/** Reads and parses the language file, for `loadLanguage`. */
import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';

import type { Language } from '@open-presence/protocol';

import type { LoadedLanguage } from './load-language.ts';

const PACKAGED_FILE = new URL('../mova-snu.yaml', import.meta.resolve('@open-presence/protocol'));

const path = workerData as string | undefined;
const text = await readBytes(path ?? fileURLToPath(PACKAGED_FILE));
const parsed = await parse(decodeUtf8(path ?? 'mova-snu.yaml', text));
// A substring of a text with Cyrillic letters takes two bytes a character, and so would each entry that contains
// it. A copy that is ASCII takes one.
const copied: unknown = JSON.parse(JSON.stringify(parsed));
const language = Object.assign({ ...parsed }, copied);
parentPort?.postMessage({ text, language } satisfies LoadedLanguage);

async function parse(decoded: string): Promise<Language> {
  if (path === undefined) {
    const { packagedLanguage } = await import('@open-presence/protocol/packaged-language');
    return packagedLanguage(decoded);
  }
  const { parseLanguage } = await import('@open-presence/protocol/language-file');
  return parseLanguage(decoded, path);
}

async function readBytes(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`Cannot read language file "${file}": ${reason}`, { cause });
  }
}

function decodeUtf8(file: string, bytes: Uint8Array): string {
  if (isUtf8(bytes)) return new TextDecoder().decode(bytes);
  throw new Error(`Cannot read language file "${file}": it must be text in UTF-8`);
}
