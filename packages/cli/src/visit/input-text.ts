/** The text of what a visitor says: an argument, a file, or standard input, of any length. */
import { createWriteStream, openAsBlob } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

import type { ProcessContext } from '../process-context.ts';

export interface InputText extends AsyncDisposable {
  readonly text: string | Blob;
}

/** Longer texts are sent from the disk, so that they can be sent again. */
const LONGEST_HELD = 64 * 1024;

export async function inputText(
  argument: string | undefined,
  file: string | undefined,
  { stdin, stderr }: ProcessContext,
): Promise<InputText> {
  if (argument !== undefined) return { text: argument, async [Symbol.asyncDispose]() {} };
  if (file !== undefined) return await fileText(file);
  if (stdin.isTTY === true) stderr.write('Write, and end with Ctrl-D on a line of its own.\n');
  const folder = await mkdtemp(join(tmpdir(), 'presence-'));
  const path = join(folder, 'text');
  await pipeline(stdin, createWriteStream(path));
  return {
    ...(await fileText(path)),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

async function fileText(path: string): Promise<InputText> {
  const blob = await openAsBlob(path);
  const text = blob.size > LONGEST_HELD ? blob : (await blob.text()).replace(/\r?\n$/, '');
  return { text, async [Symbol.asyncDispose]() {} };
}
