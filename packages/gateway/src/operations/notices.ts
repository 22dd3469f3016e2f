/**
 * Notices (PROTOCOL.md section 23): what somebody tells the owner of the gateway in private.
 *
 * Owns the folder `notices`: `NUMBER.json` has what was sent, and `NUMBER.closed` says when and why the notice
 * was closed. Leaves to the doors how notices arrive, and to the owner what follows from them. Upholds that
 * no answer to anybody but the owner has a word of a notice.
 *
 * Invariant: Only the owner of the data folder can read a notice.
 * Test: `test/notices/privacy.test.ts` “no answer and no other file has a word of a notice”
 * Invariant: A notice that was answered with a number is kept.
 * Test: `test/notices/notices.test.ts` “is kept when the gateway is killed after the answer”
 */
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, opendir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { platform } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { type Fault, GatewayError, quoted } from '@open-presence/protocol';

import type { FormGrammar } from '../intake/grammar.ts';
import { type JsonObject, toJsonObject } from '../json/json-object.ts';
import { MemberPreview } from '../json/member-preview.ts';
import { JsonScanner } from '../json/scanner.ts';
import { causeOf, isStorageFault } from '../storage-fault.ts';

export const NOTICE_PATH = '/api/notice';
/** How a notice that is a form is read. */
export const NOTICE_FORM: FormGrammar = {
  kind: 'notice',
  what: 'notice',
  rules: [],
  members: new Map(),
};

const EXAMPLE = {
  what: '/entries/01a1fe76-130a-7000-8000-00000feb750f',
  why: 'It has my address. Please remove it.',
  contact: 'me@example.org',
};
const WANTED = {
  what: 'must be a text that names what it is about: an id, a link or words',
  why: 'must be a text that says why',
};
const NAMES: ReadonlySet<string> = new Set(Object.keys(EXAMPLE));
/** In UTF-16 code units. */
const MAX_PREVIEW = 16 * 1024;
/** In bytes: what a list reads of each notice. */
const PREVIEW_SIZE = 64 * 1024;
const READ_SIZE = 64 * 1024;
/** How long a scrape waits until all notices were looked at: Prometheus gives a scrape ten seconds. */
const MEASURE_WAIT_MS = 1000;

/** The second of its arrival, and 80 bits that nobody can guess. */
const NUMBER = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-[0-9a-f]{20}$/;
const TEXT = '.json';
const CLOSED = '.closed';
/** Its words must go, and may be there still. */
const ERASING = '.erasing';
const UNFINISHED = '.new';

/** What everyone who has its number may know of a notice. */
export interface NoticeState {
  readonly number: string;
  readonly state: 'open' | 'closed';
  readonly received: string;
  readonly closed?: string;
  readonly reason?: string;
}

interface NoticesMeasure {
  readonly open: number;
  readonly oldest: number | undefined;
}

export class Notices {
  readonly #folder: string;
  #measured: NoticesMeasure | undefined;
  #measuring: Promise<void> | undefined;

  constructor(dataFolder: string) {
    this.#folder = join(dataFolder, 'notices');
  }

  /** Resolves with its number once it is durable. Throws `malformed-json`, `invalid-entry` or `unavailable`. */
  async receive(json: AsyncIterable<Uint8Array>): Promise<string> {
    const now = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
    const number = `${now}-${randomBytes(10).toString('hex')}`;
    const unfinished = this.#path(number, UNFINISHED);
    const preview = new MemberPreview(NAMES, MAX_PREVIEW);
    const scanner = new JsonScanner(preview, EXAMPLE);
    try {
      await this.#makeFolder();
      {
        await using file = await open(unfinished, 'wx', 0o600);
        for await (const chunk of json) {
          scanner.feed(chunk);
          await file.writeFile(chunk);
        }
        scanner.end();
        assertComplete(preview.strings());
        await file.sync();
      }
      await rename(unfinished, this.#path(number, TEXT));
      await flushFolder(this.#folder);
    } catch (error) {
      await rm(unfinished, { force: true });
      if (!isStorageFault(error)) throw error;
      const { code, message } = causeOf(error);
      const why = code === 'ENOSPC' || code === 'EDQUOT' ? 'the disk is full' : message;
      throw new GatewayError(
        'unavailable',
        `Cannot keep the notice: ${why}. Send it again later: nothing of it was kept.`,
      );
    }
    return number;
  }

  /** Undefined for a number that no notice here has. */
  async state(number: string): Promise<NoticeState | undefined> {
    const parts = NUMBER.exec(number);
    if (parts === null) return undefined;
    const [, year, month, day, hour, minute, second] = parts;
    const received = `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
    const closing = await orMissing(readFile(this.#path(number, CLOSED), 'utf8'));
    if (closing !== undefined) {
      const { closed, reason } = toJsonObject(JSON.parse(closing));
      return { number, state: 'closed', received, closed: String(closed), reason: String(reason) };
    }
    const found = await orMissing(stat(this.#path(number, TEXT)));
    return found && { number, state: 'open', received };
  }

  /** As `state`. Throws `not-found`. */
  async existing(number: string): Promise<NoticeState> {
    const state = await this.state(number);
    if (state !== undefined) return state;
    throw new GatewayError(
      'not-found',
      `This gateway has received no notice ${quoted(number)}. Where several gateways share an address, another of them may have received it.`,
    );
  }

  /** The oldest first, each with the first words of its members. An erased notice has none. */
  async *list(): AsyncGenerator<NoticeState & { readonly words: JsonObject }> {
    await this.tidy();
    const names = (await orMissing(readdir(this.#folder))) ?? [];
    const numbers = new Set(names.map((name) => name.split('.', 1)[0] ?? ''));
    for (const number of [...numbers].toSorted()) {
      const state = await this.state(number);
      if (state !== undefined) yield { ...state, words: await this.#preview(number) };
    }
  }

  /** Its state with the first words of its members, then all that was sent, in pieces. Throws `not-found`. */
  async *show(number: string): AsyncGenerator<JsonObject> {
    yield { ...(await this.existing(number)), words: await this.#preview(number) };
    const decoder = new TextDecoder();
    for await (const bytes of this.#read(number))
      yield { text: decoder.decode(bytes, { stream: true }) };
  }

  /** Throws `not-found`. The reason of one that was closed before is replaced. */
  async close(number: string, reason: string): Promise<NoticeState> {
    const { received } = await this.existing(number);
    const closed = new Date().toISOString();
    await this.#write(this.#path(number, CLOSED), { closed, reason });
    return { number, state: 'closed', received, closed, reason };
  }

  /** Removes what was sent, for good. An open notice is closed: nobody can act on it any more. */
  async erase(number: string): Promise<NoticeState> {
    await this.tidy();
    const found = await this.existing(number);
    // From then on, the words go, whatever interrupts.
    await this.#write(this.#path(number, ERASING), {});
    const state = found.state === 'open' ? await this.close(number, 'It was erased.') : found;
    await this.#completeErasure(number);
    return state;
  }

  /**
   * How many are open, and when the oldest of them came, in seconds since 1970. If that takes long, resolves with
   * the last result; undefined the first time.
   */
  async measure(): Promise<NoticesMeasure | undefined> {
    this.#measuring ??= this.#measureFiles();
    await Promise.race([this.#measuring, setTimeout(MEASURE_WAIT_MS, undefined, { ref: false })]);
    return this.#measured;
  }

  /** However many files there are, they are looked at for a tenth of the time at most. */
  async #measureFiles(): Promise<void> {
    const begun = performance.now();
    try {
      this.#measured = await this.#countOpen();
    } finally {
      const pause = 10 * (performance.now() - begun);
      void setTimeout(pause, undefined, { ref: false }).then(() => (this.#measuring = undefined));
    }
  }

  async #countOpen(): Promise<NoticesMeasure> {
    let open = 0;
    let oldest: string | undefined;
    for await (const name of this.#files()) {
      if (!name.endsWith(TEXT)) continue;
      const number = name.slice(0, -TEXT.length);
      const closing = await orMissing(stat(this.#path(number, CLOSED)));
      if (closing !== undefined) continue;
      open += 1;
      if (oldest === undefined || number < oldest) oldest = number;
    }
    const state = oldest === undefined ? undefined : await this.state(oldest);
    return { open, oldest: state && Date.parse(state.received) / 1000 };
  }

  /** Their names, in any order: there may be any number of them. */
  async *#files(): AsyncGenerator<string> {
    const folder = await orMissing(opendir(this.#folder));
    for await (const { name } of folder ?? []) yield name;
  }

  /** For the start: removes unfinished notices, and completes erasures. */
  async recover(): Promise<void> {
    for await (const name of this.#files())
      if (name.endsWith(UNFINISHED)) await rm(join(this.#folder, name), { force: true });
    await this.tidy();
  }

  /** Completes erasures that were interrupted. */
  async tidy(): Promise<void> {
    for await (const name of this.#files()) {
      if (!name.endsWith(ERASING)) continue;
      const number = name.slice(0, -ERASING.length);
      if ((await this.state(number))?.state === 'open') await this.close(number, 'It was erased.');
      await this.#completeErasure(number);
    }
  }

  async #completeErasure(number: string): Promise<void> {
    await rm(this.#path(number, TEXT), { force: true });
    await flushFolder(this.#folder);
    await rm(this.#path(number, ERASING), { force: true });
  }

  async #write(path: string, content: object): Promise<void> {
    const unfinished = `${path}${UNFINISHED}`;
    {
      await using file = await open(unfinished, 'w', 0o600);
      await file.writeFile(JSON.stringify(content));
      await file.sync();
    }
    await rename(unfinished, path);
    await flushFolder(this.#folder);
  }

  async #preview(number: string): Promise<JsonObject> {
    const preview = new MemberPreview(NAMES, MAX_PREVIEW);
    const scanner = new JsonScanner(preview);
    for await (const bytes of this.#read(number, PREVIEW_SIZE)) scanner.feed(bytes);
    return Object.fromEntries(preview.strings());
  }

  /** Nothing of one that was erased. */
  async *#read(number: string, end = Infinity): AsyncGenerator<Buffer> {
    await using file = await orMissing(open(this.#path(number, TEXT)));
    if (file === undefined) return;
    for (let at = 0; at < end;) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(READ_SIZE), 0, READ_SIZE, at);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  }

  async #makeFolder(): Promise<void> {
    if ((await mkdir(this.#folder, { recursive: true, mode: 0o700 })) === undefined) return;
    await chmod(this.#folder, 0o700);
    await flushFolder(dirname(this.#folder));
  }

  #path(number: string, suffix: string): string {
    return join(this.#folder, number + suffix);
  }
}

function assertComplete(members: ReadonlyMap<string, string>): void {
  const faults = Object.entries(WANTED).flatMap(([name, wanted]): Fault[] =>
    /\S/.test(members.get(name) ?? '')
      ? []
      : [{ pointer: `/${name}`, parameter: name, detail: `"${name}" ${wanted}` }],
  );
  if (faults.length === 0) return;
  const sentence = faults.map(({ detail }) => detail).join('; ');
  throw new GatewayError('invalid-entry', `Cannot receive the notice: ${sentence}`, {
    faults,
    example: EXAMPLE,
  });
}

async function flushFolder(path: string): Promise<void> {
  // Windows cannot flush a folder: NTFS writes its changes to a journal of its own.
  if (platform() === 'win32') return;
  await using folder = await open(path);
  await folder.sync();
}

/** Undefined where there is no such file. */
async function orMissing<Result>(result: Promise<Result>): Promise<Result | undefined> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
