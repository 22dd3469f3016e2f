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

interface InputContext extends Pick<ProcessContext, 'stdin' | 'stderr'> {
  /** Aborted when the text is not wanted any more. */
  readonly signal: AbortSignal;
}

/** There is no such file, or it cannot be read. */
export class UnusableFile extends Error {}

/** Longer texts are sent from the disk, so that they can be sent again. */
const LONGEST_HELD = 64 * 1024;

export async function inputText(
  argument: string | undefined,
  file: string | undefined,
  { stdin, stderr, signal }: InputContext,
): Promise<InputText> {
  if (argument !== undefined) return { text: argument, async [Symbol.asyncDispose]() {} };
  if (file !== undefined) return await fileText(file);
  if (stdin.isTTY === true) stderr.write('Write, and end with Ctrl-D on a line of its own.\n');
  const folder = await mkdtemp(join(tmpdir(), 'presence-'));
  const path = join(folder, 'text');
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await pipeline(stdin, createWriteStream(path), { signal });
    return { ...(await fileText(path)), [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function fileText(path: string): Promise<InputText> {
  try {
    const blob = await openAsBlob(path);
    const text = blob.size > LONGEST_HELD ? blob : (await blob.text()).replace(/\r?\n$/, '');
    return { text, async [Symbol.asyncDispose]() {} };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UnusableFile(`Cannot read the text from "${path}": ${reason}`, { cause: error });
  }
}
