/** `presence verify URL|FILE`: verifies a log that is read as lines, and compares it with a kept checkpoint. */
import { createHash } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import {
  ChainVerifier,
  type Checkpoint,
  Gateway,
  type LogLine,
  PresenceError,
  readLogLines,
} from '@open-presence/client';
import { makeFolder } from '@open-presence/gateway/prepare-folder';

import { decompressed, readFileChunks } from '../copy/compression.ts';
import { entryCount, ProgressBar } from '../copy/progress-bar.ts';
import { EXIT_FAILED, fail } from '../exit-codes.ts';
import type { ProcessContext } from '../process-context.ts';
import { safeText } from '../safe-text.ts';

export interface VerifyLinesOptions {
  /** Path of the kept checkpoint; by default, one for each gateway, and none for files. */
  readonly checkpoint: string | undefined;
  /** Whether to begin after the kept checkpoint. */
  readonly onlyNew: boolean;
  readonly json: boolean;
}

/** Verified lines, and the position after the last one. */
type VerifiedLines = AsyncGenerator<readonly LogLine[], Checkpoint>;

interface Verified {
  readonly entries: number;
  /** How many of them are withheld. */
  readonly withheld: number;
  readonly end: Checkpoint;
}

/** Sets the exit code. Replaces the kept checkpoint if all is well. */
export async function verifyLines(
  source: string,
  options: VerifyLinesOptions,
  context: ProcessContext,
): Promise<void> {
  const isAddress = /^https?:\/\//.test(source);
  if (options.onlyNew && !isAddress)
    throw new Error(
      '--new is for the log of a gateway elsewhere: an export is verified as a whole.',
    );
  const end = new AbortController();
  // What is read otherwise ends with the process.
  if (isAddress) void context.stopSignal().then(() => end.abort(new Error('it was interrupted')));
  const file =
    options.checkpoint ?? (isAddress ? checkpointFileFor(context.stateFolder, source) : undefined);
  try {
    const kept = file === undefined ? undefined : await readCheckpoint(file);
    const from = options.onlyNew ? kept : undefined;
    const lines = isAddress
      ? linesOfGateway(source, from, end.signal, context)
      : linesOfExport(source, context);
    const verified = await compare(lines, kept, context);
    if (file !== undefined) await writeCheckpoint(file, verified.end);
    report(verified, options, context);
  } catch (error) {
    if (end.signal.aborted) fail(context, `verify ${source}`, end.signal.reason, EXIT_FAILED);
    else reportFault(source, error, options, context);
  }
}

function linesOfGateway(
  address: string,
  from: Checkpoint | undefined,
  signal: AbortSignal,
  { stderr }: ProcessContext,
): VerifiedLines {
  const onRetry = (error: Error): void => void stderr.write(`${error.message}\nTrying again.\n`);
  return new Gateway(address, { onRetry }).logLines({ from, signal });
}

async function* linesOfExport(path: string, context: ProcessContext): VerifiedLines {
  const bytes: AsyncIterable<Buffer> = path === '-' ? context.stdin : readFileChunks(path);
  const { checkpoint, batches } = await readLogLines(decompressed(bytes));
  const verifier = new ChainVerifier(checkpoint);
  yield* verifier.verify(batches);
  return verifier.checkpoint;
}

/** Reads all lines. Throws a `PresenceError` if the log does not go on from the kept checkpoint. */
async function compare(
  lines: VerifiedLines,
  kept: Checkpoint | undefined,
  { stderr }: ProcessContext,
): Promise<Verified> {
  let entries = 0;
  let withheld = 0;
  using progress = new ProgressBar({ stderr });
  for (let step = await lines.next(); ; step = await lines.next()) {
    progress.show(entries, undefined);
    if (step.done === true) {
      assertContinues(step.value, kept);
      return { entries, withheld, end: step.value };
    }
    for (const { seq, link, digest } of step.value) {
      if (seq === kept?.head && link !== kept.link) throw rewritten(seq);
      entries += 1;
      if (digest !== undefined) withheld += 1;
    }
  }
}

function assertContinues({ log, head }: Checkpoint, kept: Checkpoint | undefined): void {
  if (kept === undefined) return;
  if (log !== kept.log) {
    const message = `This is the log "${log}", and the kept checkpoint is from "${kept.log}".`;
    throw new PresenceError('other-log', message);
  }
  if (head >= kept.head) return;
  const seq = head + 1;
  const message = `Entry ${seq} is missing: the log ends before it, and had ${kept.head} entries.`;
  throw new PresenceError('broken-chain', message, { seq });
}

function rewritten(seq: number): PresenceError {
  const message = `Entry ${seq} has another link than the kept checkpoint: it was changed, or an entry before it.`;
  return new PresenceError('broken-chain', message, { seq });
}

function report(
  { entries, withheld, end }: Verified,
  { json }: VerifyLinesOptions,
  { stdout }: ProcessContext,
): void {
  const { log, head, link } = end;
  if (json) {
    stdout.write(`${JSON.stringify({ faults: [], log, entries, withheld, head, link })}\n`);
    return;
  }
  const taken = withheld === 0 ? '' : ` Withheld: ${withheld.toLocaleString('en')}.`;
  const last = head === 0 ? '' : ` Last link ${link}`;
  stdout.write(`${entryCount(entries)}, unbroken.${taken}${last}\n`);
}

function reportFault(
  source: string,
  error: unknown,
  { json }: VerifyLinesOptions,
  context: ProcessContext,
): void {
  if (!(error instanceof PresenceError && FAULTS.has(error.code)))
    return fail(context, `verify ${source}`, error);
  const fault = { seq: error.seq ?? null, what: error.message };
  const text = json ? JSON.stringify({ faults: [fault] }) : safeText(error.message);
  context.stdout.write(`${text}\n`);
  context.setExitCode(EXIT_FAILED);
}

const FAULTS: ReadonlySet<string> = new Set([
  'broken-chain',
  'other-log',
  'not-a-log',
  'unreadable-entry',
]);

/** `folder`: for the user's state (XDG Base Directory Specification). Each address has a file of its own. */
function checkpointFileFor(folder: string, address: string): string {
  const { host, href } = new URL(address);
  const name = createHash('sha256').update(href.replace(/\/+$/, '')).digest('hex').slice(0, 12);
  const file = `${host.replace(/[^\w.-]/g, '_')}-${name}.json`;
  return join(folder, 'open-presence', 'checkpoints', file);
}

/** Undefined if there is no file yet. Throws if the file has no checkpoint. */
async function readCheckpoint(path: string): Promise<Checkpoint | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (text === undefined) return undefined;
  const found = /^\s*\{"log":"([^"\\]+)","head":(\d{1,16}),"link":"([\da-f]{64})"\}\s*$/.exec(text);
  if (found === null) throw new Error(`"${path}" has no checkpoint. Remove it to begin anew.`);
  const [, log = '', head, link = ''] = found;
  return { log, head: Number(head), link };
}

async function writeCheckpoint(path: string, { log, head, link }: Checkpoint): Promise<void> {
  makeFolder(dirname(path));
  await writeFile(`${path}.next`, `${JSON.stringify({ log, head, link })}\n`);
  await rename(`${path}.next`, path);
}
