/** Remembers the gateway and the visitor's name from one command to the next. */
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { makeFolder } from '@open-presence/gateway/prepare-folder';

export interface Remembered {
  readonly url?: string;
  readonly identity?: string;
}

/** `folder`: for the user's configuration (XDG Base Directory Specification). */
function fileIn(folder: string): string {
  return join(folder, 'open-presence', 'visitor.json');
}

/** Returns neither if the file is missing or malformed. */
export async function readRemembered(folder: string): Promise<Remembered> {
  try {
    const value: unknown = JSON.parse(await readFile(fileIn(folder), 'utf8'));
    const text = (name: string): string | undefined => {
      const member: unknown =
        typeof value === 'object' && value !== null
          ? Object.getOwnPropertyDescriptor(value, name)?.value
          : undefined;
      return typeof member === 'string' ? member : undefined;
    };
    const url = text('url');
    const identity = text('identity');
    return {
      ...(url === undefined ? {} : { url }),
      ...(identity === undefined ? {} : { identity }),
    };
  } catch {
    return {};
  }
}

export async function remember(folder: string, remembered: Remembered): Promise<void> {
  makeFolder(dirname(fileIn(folder)));
  await writeFile(fileIn(folder), `${JSON.stringify(remembered, undefined, 2)}\n`);
}
