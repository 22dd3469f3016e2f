/** Runs the visitor's commands: gives them the gateway and the output, and decides how they end. */
import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';

import { Gateway, PresenceError } from '@open-presence/client';
import { portableJson } from '@open-presence/protocol';
import { type Command, InvalidArgumentError, Option } from 'commander';

import { addGuide } from '../command-guide.ts';
import { DEFAULT_URL, urlOption } from '../configuration/gateway-address.ts';
import { EXIT_FAILED, EXIT_UNREACHABLE } from '../exit-codes.ts';
import type { ProcessContext } from '../process-context.ts';
import { UnusableFile } from './input-text.ts';
import { Output } from './output.ts';
import { readRemembered } from './remembered.ts';

/** How long most commands try again while the gateway cannot be reached. */
const PATIENCE_MS = 30_000;
/** Longer than any pause between two attempts. A failure after this time has nothing to do with the one before. */
const NEW_FAILURE_MS = 60_000;

/** `setTimeout` fires at once for more. */
const LONGEST_TIMER_S = 2_147_483;

export interface VisitorOptions {
  readonly url?: string;
  readonly identity?: string | undefined;
  readonly json?: boolean;
  /** In seconds. */
  readonly timeout?: number;
}

export interface VisitOptions {
  /** How long the command tries again while the gateway cannot be reached. */
  readonly patienceMs?: number;
  /** Whether the command says something. */
  readonly says?: boolean;
}

export interface Visit {
  readonly gateway: Gateway;
  /** Whether the gateway and the name are those that later commands use. */
  readonly isRemembered: boolean;
  readonly output: Output;
  /** Whether to write JSON: one document, or one on each line. */
  readonly json: boolean;
  /** Aborted by Ctrl-C, when nobody reads the output, and after too many failures. */
  readonly signal: AbortSignal;
  /** Writes a line to the visitor, on standard error. */
  readonly notify: (text: string) => void;
}

/** Adds the options that every command of a visitor takes, and its guide. */
export function addVisitorOptions(command: Command, example: string): Command {
  command
    .addOption(urlOption())
    .addOption(new Option('--identity <name>', 'your name').env('PRESENCE_IDENTITY'))
    .option('--timeout <seconds>', 'give up after this time', seconds)
    .option('--json', 'write JSON, also of a refusal: the last line of standard error');
  return addGuide(command, { examples: [example], exitCodes: [0, 1, 2] });
}

export function wholeNumber(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

function seconds(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (value > 0 && value <= LONGEST_TIMER_S) return value;
  throw new InvalidArgumentError(`It must be a number of seconds, at most ${LONGEST_TIMER_S}.`);
}

/** Adds the local offset to an ISO 8601 date or time that has none. Leaves other texts for the gateway to judge. */
export function localTimeOption(text: string): string {
  const parts = /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)([\d:.,]*))?$/.exec(text);
  if (parts === null) return text;
  const [, date = '', clock = '00:00', rest = ''] = parts;
  const minutes = -new Date(`${date}T${clock}`).getTimezoneOffset();
  if (Number.isNaN(minutes)) return text;
  const two = (part: number): string => String(Math.floor(part)).padStart(2, '0');
  const offset = `${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)}`;
  return `${date}T${clock}${rest}${minutes < 0 ? '-' : '+'}${offset}`;
}

/**
 * Runs one command: prints refusals of the gateway, and sets the exit code. A command that `says`
 * something fails if it is interrupted; one that only reads does not.
 */
export async function visit(
  context: ProcessContext,
  { url, identity, json = false, timeout }: VisitorOptions,
  action: (visit: Visit) => Promise<void>,
  { patienceMs = PATIENCE_MS, says = false }: VisitOptions = {},
): Promise<void> {
  const { stdout, stderr, configurationFolder } = context;
  const end = new AbortController();
  const { signal } = end;
  let isInterrupted = false;
  void context.stopSignal().then(() => {
    isInterrupted = true;
    end.abort();
  });
  // `presence read | head` has read enough.
  stdout.on('error', () => end.abort());
  const notify = (text: string): void => void stderr.write(`${text}\n`);
  const remembered = await readRemembered(configurationFolder);
  const name = identity ?? remembered.identity;
  let failingSince = Number.NEGATIVE_INFINITY;
  let lastFailure = Number.NEGATIVE_INFINITY;
  const address = url ?? remembered.url ?? DEFAULT_URL;
  const isRemembered = address === remembered.url && name === remembered.identity;
  const gateway = new Gateway(address, {
    identity: name,
    seen: isRemembered ? remembered.seen : undefined,
    onRetry(error, delayMs) {
      const now = performance.now();
      const isNew = now - lastFailure > NEW_FAILURE_MS;
      if (isNew) failingSince = now;
      lastFailure = now;
      // The gateway may ask for a longer pause.
      if (now + delayMs - failingSince > patienceMs) end.abort(error);
      else if (isNew) notify(`${error.message}\nTrying again.`);
    },
  });
  const timer =
    timeout === undefined
      ? undefined
      : setTimeout(() => end.abort(timeoutError(gateway.address, timeout)), timeout * 1000);
  try {
    if (says) await requireUtf8Arguments();
    const output = new Output(context, signal);
    await action({ gateway, isRemembered, output, json, signal, notify });
  } catch (error) {
    const failure: unknown = signal.aborted ? signal.reason : error;
    const isStopped = signal.aborted && !(failure instanceof PresenceError);
    if (!isStopped) context.setExitCode(report(failure, json, notify));
    else if (says && isInterrupted) {
      notify('Interrupted before the gateway had answered.');
      context.setExitCode(EXIT_FAILED);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** In place of bytes that are not UTF-8, Node.js gives other characters. Linux tells what the arguments were. */
async function requireUtf8Arguments(): Promise<void> {
  const bytes = await readFile('/proc/self/cmdline').catch(() => Buffer.alloc(0));
  if (isUtf8(bytes)) return;
  throw new Error('Cannot read the arguments: they are not UTF-8, so nothing was said.');
}

function timeoutError(address: string, timeout: number): PresenceError {
  const message = `The gateway at ${address} has not answered in full within ${timeout} s.`;
  return new PresenceError('unreachable', message);
}

/** Returns the exit code. */
function report(error: unknown, json: boolean, notify: (text: string) => void): number {
  if (error instanceof UnusableFile) {
    notify(error.message);
    return EXIT_UNREACHABLE;
  }
  if (!(error instanceof PresenceError)) throw error;
  const { code, message: detail, problem = { code, detail } } = error;
  // The detail names all faults.
  notify(json ? portableJson(problem) : detail);
  return error.code === 'unreachable' ? EXIT_UNREACHABLE : EXIT_FAILED;
}
