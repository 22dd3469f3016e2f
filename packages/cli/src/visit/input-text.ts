/** Reads the text that a visitor says, of any length, from an argument, a file or standard input. */
import { isUtf8 } from 'node:buffer';
import { createReadStream, createWriteStream, openAsBlob, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { reasonOf } from '../exit-codes.ts';
import type { ProcessContext } from '../process-context.ts';

export interface InputText extends AsyncDisposable {
  readonly text: string | Blob;
}

interface InputContext extends Pick<ProcessContext, 'stdin' | 'stderr'> {
  /** Aborted when the text is no longer wanted. */
  readonly signal: AbortSignal;
}

interface Opened {
  readonly blob: Blob;
  /** The first `LONGEST_HELD` bytes: all of a short text. */
  readonly start: Buffer;
}

/** There is no such file, or it cannot be read. */
export class UnusableFile extends Error {}

/** The longest text that is held in memory, in bytes. A longer one is sent from the disk, and can be sent again. */
const LONGEST_HELD = 64 * 1024;

const UTF8_MARK = '\uFEFF';
/** PowerShell 5.1 writes files in UTF-16. */
const UTF16_MARKS = { 'utf-16le': [0xff, 0xfe], 'utf-16be': [0xfe, 0xff] } as const;

/** Throws an `Error` for the visitor if a text is neither UTF-8 nor UTF-16 with a byte order mark. */
export async function inputText(
  argument: string | undefined,
  file: string | undefined,
  { stdin, stderr, signal }: InputContext,
): Promise<InputText> {
  if (argument !== undefined) return { text: argument, async [Symbol.asyncDispose]() {} };
  await using stack = new AsyncDisposableStack();
  const copy = async (source: Readable): Promise<string> => {
    const folder = await mkdtemp(join(tmpdir(), 'presence-'));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, 'text');
    await pipeline(source, createWriteStream(path), { signal });
    return path;
  };
  if (file === undefined && stdin.isTTY === true)
    stderr.write('Write, and end with Ctrl-D on a line of its own.\n');
  let path = file ?? (await copy(stdin));
  // Such as `<(program)` of a shell.
  if (isPipe(path)) path = await copy(createReadStream(path));
  const name = file === undefined ? 'standard input' : `"${file}"`;
  const text = await decoded(await openText(path), name, copy);
  const kept = stack.move();
  return { text, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

function isPipe(path: string): boolean {
  try {
    return statSync(path).isFIFO();
  } catch {
    // Opening the file will say why.
    return false;
  }
}

/** A short text as a string, a long one as a blob. Converts a long one from UTF-16; the gateway checks a long one in UTF-8. */
async function decoded(
  { blob, start }: Opened,
  name: string,
  copy: (source: Readable) => Promise<string>,
): Promise<string | Blob> {
  const encoding = encodingOf(start);
  try {
    if (blob.size <= LONGEST_HELD)
      return new TextDecoder(encoding, { fatal: true }).decode(start).replace(/\r?\n$/, '');
    if (encoding === 'utf-8') return blob.slice(start.indexOf(UTF8_MARK) === 0 ? 3 : 0);
    const decoder = new TextDecoderStream(encoding, { fatal: true });
    return await openAsBlob(await copy(Readable.from(blob.stream().pipeThrough(decoder))));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const fault =
      encoding === 'utf-8'
        ? encodingFault(start)
        : `its byte order mark says ${encoding}, which it is not`;
    const advice = 'Encode the text as UTF-8 and send it whole.';
    throw new Error(`Cannot read the text from ${name}: ${fault}. ${advice}`, { cause: error });
  }
}

async function openText(path: string): Promise<Opened> {
  try {
    const blob = await openAsBlob(path);
    return { blob, start: Buffer.from(await blob.slice(0, LONGEST_HELD).arrayBuffer()) };
  } catch (error) {
    throw new UnusableFile(`Cannot read the text from "${path}": ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

function encodingOf(start: Uint8Array): string {
  for (const [encoding, mark] of Object.entries(UTF16_MARKS))
    if (start[0] === mark[0] && start[1] === mark[1]) return encoding;
  return 'utf-8';
}

/** Describes bytes that are not UTF-8, in the words of the gateway. */
function encodingFault(bytes: Buffer): string {
  let offset = 0;
  // Every sequence is complete at the end of the longest prefix that is UTF-8.
  for (let end = 1; end <= bytes.length; end++)
    if (isUtf8(bytes.subarray(offset, end))) offset = end;
    else if (end - offset >= 4) break;
  const line = bytes.subarray(0, offset).toString().split('\n').length;
  const column = offset - bytes.lastIndexOf('\n', offset - 1);
  const byte = bytes
    .subarray(offset, offset + 1)
    .toString('hex')
    .toUpperCase();
  return `at byte ${offset} (line ${line}, column ${column}) found the byte 0x${byte}, which begins no valid UTF-8 sequence, expected UTF-8`;
}
