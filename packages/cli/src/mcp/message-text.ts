/**
 * Holds one message as it arrives: in memory while it is small, else in a temporary file. A scanner then
 * finds the members that the relay reads.
 */
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';

import {
  JsonScanner,
  PathFinder,
  type FoundValue,
  type JsonPath,
} from '@open-presence/gateway/json';
import { openTemporaryFile } from '@open-presence/gateway/temporary-file';

export type JsonObject = Readonly<Record<string, unknown>>;

/** The largest message that is held in memory, in bytes. */
const MAX_IN_MEMORY = 64 * 1024;
/** The longest value of a large message that the relay reads, in bytes. */
const MAX_VALUE = 1024 * 1024;
/** The relay reads this many messages of a batch, and only passes on the others. */
const MAX_MESSAGES = 10_000;
const READ_SIZE = 64 * 1024;

/** From revision 2026-07-28 on, each request names its revision in this member of `_meta`. */
export const VERSION = 'io.modelcontextprotocol/protocolVersion';
const MEMBERS: readonly JsonPath[] = [
  ['id'],
  ['method'],
  ['result'],
  ['error'],
  ['detail'],
  ['params', 'name'],
  ['params', 'uri'],
  ['params', 'requestId'],
  ['params', '_meta', VERSION],
];
/** Paths in a message, and the same paths in each message of a batch. */
const PATHS = [[], ...MEMBERS].flatMap((path) => [path, [null, ...path]]);

/** A message is longer than any answer of a gateway. */
export class TooLong extends Error {
  constructor(longest: number) {
    const bytes = longest.toLocaleString('en');
    super(
      `The gateway’s answer is longer than ${bytes} bytes and was not read on, so it is not known what came of this.`,
    );
  }
}

export class MessageText implements AsyncDisposable {
  /** Whether the message is only white space. */
  isBlank = true;
  /** Why the message could not be held whole. */
  fault: Error | undefined;
  #memory: Uint8Array[] = [];
  #size = 0;
  #file: FileHandle | undefined;
  #scanner: JsonScanner | undefined;
  #isJson = true;
  /** The found values of each message, by their paths. */
  readonly #found: Map<string, FoundValue>[] = [];
  #current = new Map<string, FoundValue>();
  readonly #longest: number;

  /** `longest`: in bytes. A longer message has a `fault`. */
  constructor(longest = Number.POSITIVE_INFINITY) {
    this.#longest = longest;
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.fault !== undefined) return;
    this.#size += bytes.length;
    if (this.#size > this.#longest) {
      this.fault = new TooLong(this.#longest);
      return;
    }
    if (this.isBlank) this.isBlank = bytes.every((byte) => byte <= 0x20);
    this.#memory.push(bytes);
    if (this.#size <= MAX_IN_MEMORY) return;
    try {
      await this.#spill();
    } catch (error) {
      if (!(error instanceof Error && 'syscall' in error)) throw error;
      this.fault = error;
      this.#isJson = false;
    }
  }

  /** The message is complete. */
  async end(): Promise<void> {
    if (this.#file !== undefined) this.#scan((scanner) => scanner.end());
  }

  /**
   * The message, or the messages of a batch; undefined if the text is not JSON. A large message has only
   * the members that the relay reads, with `{}` in place of a long value.
   */
  async messages(): Promise<readonly JsonObject[] | undefined> {
    const { whole } = this;
    if (whole !== undefined) return parseMessages(whole);
    if (!this.#isJson) return undefined;
    return await Promise.all(this.#found.map((found) => this.#outline(found)));
  }

  /** All bytes of a small message; undefined for a large one. */
  get whole(): Buffer<ArrayBuffer> | undefined {
    return this.#file === undefined ? Buffer.concat(this.#memory) : undefined;
  }

  async *chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#file === undefined) return yield* this.#memory;
    for (let at = 0; at < this.#size; at += READ_SIZE)
      yield await this.#read(at, Math.min(this.#size, at + READ_SIZE));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file?.close();
    this.#memory = [];
  }

  async #spill(): Promise<void> {
    this.#file ??= await openTemporaryFile(tmpdir());
    for (const piece of this.#memory.splice(0)) {
      this.#scan((scanner) => scanner.feed(piece));
      await this.#file.writeFile(piece);
    }
  }

  #scan(step: (scanner: JsonScanner) => void): void {
    if (!this.#isJson) return;
    this.#scanner ??= new JsonScanner(new PathFinder(PATHS, (value) => this.#onValue(value)));
    try {
      step(this.#scanner);
    } catch {
      this.#isJson = false;
    }
  }

  #onValue(value: FoundValue): void {
    const path = value.path.filter((step) => step !== null);
    if (path.length > 0) this.#current.set(path.join(' '), value);
    else if (value.type !== 'array' && this.#found.length < MAX_MESSAGES) {
      this.#found.push(this.#current);
      this.#current = new Map();
    } else this.#current.clear();
  }

  async #outline(found: ReadonlyMap<string, FoundValue>): Promise<JsonObject> {
    const outline: Record<string, unknown> = {};
    const params: Record<string, unknown> = {};
    for (const [name, { path, start, end }] of found) {
      const isShort = end - start <= MAX_VALUE;
      const value: unknown = isShort ? JSON.parse((await this.#read(start, end)).toString()) : {};
      if (path.at(-1) === VERSION) params['_meta'] = { [VERSION]: value };
      else if (path.includes('params')) params[String(path.at(-1))] = value;
      else outline[name] = value;
    }
    return { ...outline, params };
  }

  async #read(start: number, end: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(end - start);
    const { bytesRead = 0 } = (await this.#file?.read(bytes, 0, bytes.length, start)) ?? {};
    if (bytesRead < bytes.length) throw new Error('The temporary file of a message was cut.');
    return bytes;
  }
}

function parseMessages(bytes: Buffer): readonly JsonObject[] | undefined {
  try {
    return [JSON.parse(bytes.toString()) as unknown].flat().map(asObject);
  } catch {
    return undefined;
  }
}

export function asObject(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
