/** Remembers the gateway, the visitor's name and how far it has read from one command to the next. */
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { makeFolder } from '@open-presence/gateway/prepare-folder';

export interface Remembered {
  readonly url?: string;
  readonly identity?: string;
  /** The newest entry that it has seen by catching up. */
  readonly seen?: number;
}

/** `folder`: for the user's configuration (XDG Base Directory Specification). */
function fileIn(folder: string): string {
  return join(folder, 'open-presence', 'visitor.json');
}

/** Returns neither if the file is missing or malformed. */
export async function readRemembered(folder: string): Promise<Remembered> {
  try {
    const value: unknown = JSON.parse(await readFile(fileIn(folder), 'utf8'));
    const members: Readonly<Record<string, unknown>> =
      typeof value === 'object' && value !== null ? { ...value } : {};
    const { url, identity, seen } = members;
    return {
      ...(typeof url === 'string' ? { url } : {}),
      ...(typeof identity === 'string' ? { identity } : {}),
      ...(typeof seen === 'number' ? { seen } : {}),
    };
  } catch {
    return {};
  }
}

export async function remember(folder: string, remembered: Remembered): Promise<void> {
  makeFolder(dirname(fileIn(folder)));
  await writeFile(fileIn(folder), `${JSON.stringify(remembered, undefined, 2)}\n`);
}
