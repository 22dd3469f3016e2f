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
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { platform } from 'node:os';
import { dirname, join } from 'node:path';

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

/** The second of its arrival, and 80 bits that nobody can guess. */
const NUMBER = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-[0-9a-f]{20}$/;
const TEXT = '.json';
const CLOSED = '.closed';
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
  /** When the oldest that is open came, in seconds since 1970. */
  readonly oldest: number | undefined;
}

export class Notices {
  readonly #folder: string;

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
    const received = receivedAt(number);
    if (received === undefined) return undefined;
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
    const numbers = new Set((await this.#names()).map((name) => name.split('.', 1)[0] ?? ''));
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

  /** Removes what was sent, for good. An open notice is closed: nobody can act on it any more. To be repeated if it fails. */
  async erase(number: string): Promise<NoticeState> {
    const found = await this.existing(number);
    const state = found.state === 'open' ? await this.close(number, 'It was erased.') : found;
    await rm(this.#path(number, TEXT), { force: true });
    await flushFolder(this.#folder);
    return state;
  }

  /** How many are open, and when the oldest of them came, in seconds since 1970. */
  async measure(): Promise<NoticesMeasure> {
    const names = new Set(await this.#names());
    const isOpen = (name: string): boolean =>
      name.endsWith(TEXT) && !names.has(name.replace(TEXT, CLOSED));
    let open = 0;
    let oldest: string | undefined;
    for (const name of names) {
      if (!isOpen(name)) continue;
      open += 1;
      if (oldest === undefined || name < oldest) oldest = name;
    }
    const received = oldest && receivedAt(oldest.replace(TEXT, ''));
    return { open, oldest: received === undefined ? undefined : Date.parse(received) / 1000 };
  }

  /** For the start: removes unfinished notices. */
  async recover(): Promise<void> {
    for (const name of await this.#names())
      if (name.endsWith(UNFINISHED)) await rm(join(this.#folder, name), { force: true });
  }

  async #names(): Promise<readonly string[]> {
    return (await orMissing(readdir(this.#folder))) ?? [];
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
  async *#read(number: string, size = Infinity): AsyncGenerator<Buffer> {
    const file = await orMissing(open(this.#path(number, TEXT)));
    if (file !== undefined) yield* file.createReadStream({ end: size - 1 });
  }

  async #makeFolder(): Promise<void> {
    const made = await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    if (made !== undefined) await flushFolder(dirname(this.#folder));
  }

  #path(number: string, suffix: string): string {
    return join(this.#folder, number + suffix);
  }
}

/** Undefined for what is no number of a notice. */
function receivedAt(number: string): string | undefined {
  const [, year, month, day, hour, minute, second] = NUMBER.exec(number) ?? [];
  return year && `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
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
