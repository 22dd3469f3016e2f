/**
 * How MCP and A2A receive JSON-RPC messages of any size.
 *
 * A small message is in memory whole. A larger one goes to a temporary file as it arrives, while the
 * scanner looks for the values that may become entries. What is left of the message without these
 * values is its envelope: a short text with a placeholder for each of them, which the SDK of the
 * protocol can parse. The values are read from the file when they are stored.
 *
 * Upholds:
 * - the memory that a message takes does not grow with what it contributes.
 * - while a message arrives, no more than 64 KiB of it are in memory.
 * - an envelope that is not small is in memory only in its turn, and never if it is over 1 MiB.
 */
import { randomBytes } from 'node:crypto';

import { GatewayError } from '@open-presence/protocol';

import { yieldPeriodically } from '../fair-turns.ts';
import { isDisconnected } from '../http/context.ts';
import { BodyFile, type ByteRange } from '../http/request/body-file.ts';
import { discardBody, readBody } from '../http/request/request-body.ts';
import { sendError } from '../http/response/problem.ts';
import { isJsonObject, type JsonObject } from '../json/json-object.ts';
import { omitMembers } from '../json/omit-members.ts';
import { decodedString, isObjectText, stringText } from '../json/string-text.ts';
import { PathFinder, type FoundValue, type JsonPath } from '../json/path-finder.ts';
import type { ValueType } from '../json/handler.ts';
import { JsonScanner } from '../json/scanner.ts';
import type { DoorRequest } from './context.ts';

/** Messages up to this size, in bytes, are received in memory. */
export const SMALL_MESSAGE_SIZE: number = 64 * 1024;
/** In bytes. */
export const MAX_ENVELOPE_SIZE: number = 1024 * 1024;
/** A value leaves the envelope only if its placeholder is at least this many bytes shorter. */
const MIN_CUT_SIZE = 64;
/** The longest of an object, in bytes, without members. */
const PLACEHOLDER_SIZE = 48;
/** More of them do not fit into an envelope. */
const MAX_PLACEHOLDERS = Math.floor(MAX_ENVELOPE_SIZE / PLACEHOLDER_SIZE);
const SLICE = 64 * 1024;

/** Which values of a message may be left in the file. */
export interface MessageShape {
  readonly cut: readonly JsonPath[];
  /** Members of those that placeholders have too. */
  readonly kept: readonly JsonPath[];
  /** Members of those that are read apart: no placeholder has them. */
  readonly apart?: readonly JsonPath[];
  /** Members of those that placeholders have on demand; the last of the same name. */
  readonly picked?: readonly JsonPath[];
}

/** A value that is not in the envelope. */
export interface CutValue extends FoundValue {
  readonly index: number;
  readonly kept: readonly FoundValue[];
  readonly apart: readonly FoundValue[];
  readonly picked: readonly FoundValue[];
}

export interface MessageReceiver {
  readonly shape: MessageShape;
  readonly handleSmall: (bytes: Buffer) => Promise<void>;
  readonly handleLarge: (message: LargeMessage) => Promise<void>;
  /** Answers a body that cannot be decoded, is not JSON, or cannot be written to a file. */
  readonly refuse: (error: GatewayError) => Promise<void>;
}

export function receiveMessage(context: DoorRequest, receiver: MessageReceiver): void {
  const { app, request } = context;
  const fail = async (error: unknown): Promise<void> => {
    if (isDisconnected(context)) return;
    if (error instanceof GatewayError) await receiver.refuse(error);
    else sendError(context, error);
  };
  const receiveLarge = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    await using message = await LargeMessage.create(app.temporaryFolder, receiver.shape);
    await message.receive(chunks);
    await receiver.handleLarge(message);
  };
  const settle = (handled: Promise<void>): void => {
    const settled = handled.catch(fail).catch((error: unknown) => sendError(context, error));
    void settled.then(() => discardBody(request));
  };
  readBody(request, SMALL_MESSAGE_SIZE, {
    onSmall: (bytes) => settle(receiver.handleSmall(bytes)),
    onLarge: (chunks) => settle(receiveLarge(chunks)),
    onError: (error) => settle(receiver.refuse(error)),
  });
}

/** Marks a placeholder. No visitor ever sees it. */
const MARK = randomBytes(12).toString('base64url');

export class LargeMessage implements AsyncDisposable {
  readonly #file: BodyFile;
  readonly #shape: MessageShape;
  readonly #cut: CutValue[] = [];
  /** Found in the value that is being read. */
  #kept: FoundValue[] = [];
  #apart: FoundValue[] = [];
  readonly #picked = new Map<JsonPath, FoundValue>();
  #id: FoundValue | undefined;
  #cutSize = 0;
  #isTooLong = false;

  private constructor(file: BodyFile, shape: MessageShape) {
    this.#file = file;
    this.#shape = shape;
  }

  static async create(folder: string, shape: MessageShape): Promise<LargeMessage> {
    return new LargeMessage(await BodyFile.create(folder), shape);
  }

  /** Throws `malformed-json` as soon as the text cannot be JSON. */
  async receive(chunks: AsyncIterable<Buffer>): Promise<void> {
    const { cut, kept, apart = [], picked = [] } = this.#shape;
    const paths = [ID, ...cut, ...kept, ...apart, ...picked];
    const finder = new PathFinder(paths, (value) => this.#onValue(value));
    const scanner = new JsonScanner(finder);
    const yieldTurn = yieldPeriodically();
    for await (const chunk of chunks) {
      for (let from = 0; from < chunk.length; from += SLICE) {
        scanner.feed(chunk.subarray(from, from + SLICE));
        await yieldTurn();
      }
      await this.#file.write(chunk);
    }
    scanner.end();
  }

  /** About how long the envelope is, in bytes. */
  get envelopeSize(): number {
    return this.#isTooLong ? Infinity : this.#file.size - this.#cutSize;
  }

  /**
   * The message with placeholders. Those for which `picks` holds have the picked members. Undefined if the
   * envelope is too long.
   */
  async envelope(picks: (value: CutValue) => boolean = never): Promise<Buffer | undefined> {
    const picked = this.#cut.filter(picks).reduce((size, cut) => size + totalOf(cut.picked), 0);
    if (this.envelopeSize + picked > MAX_ENVELOPE_SIZE) return undefined;
    const pieces: Uint8Array[] = [];
    let at = 0;
    for (const value of this.#cut) {
      const members = picks(value) ? [...value.kept, ...value.picked] : value.kept;
      pieces.push(await this.read({ start: at, end: value.start }));
      pieces.push(await this.#placeholder(value, members));
      at = value.end;
    }
    pieces.push(await this.read({ start: at, end: this.#file.size }));
    return Buffer.concat(pieces);
  }

  /** The `id` of the message, where it has one of a reasonable length. */
  async id(): Promise<unknown> {
    if (this.#id === undefined || sizeOf(this.#id) > SMALL_MESSAGE_SIZE) return undefined;
    return JSON.parse((await this.read(this.#id)).toString());
  }

  /** The value for which a parsed placeholder stands. */
  cutValue(placeholder: unknown): CutValue | undefined {
    const mark = isJsonObject(placeholder) ? placeholder[MARK] : [placeholder].flat()[0];
    if (typeof mark !== 'string' || !mark.startsWith(MARK)) return undefined;
    return this.#cut[Number(mark.slice(MARK.length, -1))];
  }

  async read(range: ByteRange): Promise<Buffer> {
    return await this.#file.read(range);
  }

  chunks(range: ByteRange): AsyncGenerator<Buffer, void, undefined> {
    return this.#file.chunks(range);
  }

  /**
   * A copy in which each cut string that is the text of a JSON object is replaced by that object. It has a file
   * of its own, and this message is disposed of. Undefined if there is no such string.
   */
  async unwrapped(folder: string): Promise<LargeMessage | undefined> {
    const wrapped: CutValue[] = [];
    for (const cut of this.#cut) {
      if (cut.type === 'string' && (await isObjectText(this.textIn(cut)))) wrapped.push(cut);
    }
    if (wrapped.length === 0) return undefined;
    const message = await LargeMessage.create(folder, this.#shape);
    try {
      await message.receive(this.#withTexts(wrapped));
      await this[Symbol.asyncDispose]();
      return message;
    } catch (error) {
      await message[Symbol.asyncDispose]();
      throw error;
    }
  }

  async *#withTexts(wrapped: readonly CutValue[]): AsyncGenerator<Buffer, void, undefined> {
    let at = 0;
    for (const cut of wrapped) {
      yield* this.chunks({ start: at, end: cut.start });
      yield* this.textIn(cut);
      at = cut.end;
    }
    yield* this.chunks({ start: at, end: this.#file.size });
  }

  /** The characters of a string. */
  textIn(cut: ByteRange): AsyncGenerator<Buffer, void, undefined> {
    return decodedString(this.chunks(cut));
  }

  /** The parsed value for which a parsed placeholder stands. */
  async value(placeholder: unknown): Promise<unknown> {
    const cut = this.cutValue(placeholder);
    if (cut === undefined) return placeholder;
    const isText = isJsonObject(placeholder) && cut.type === 'string';
    return JSON.parse(isText ? await this.#decoded(cut) : (await this.read(cut)).toString());
  }

  /** What stands for the value in a text that is expanded. */
  token({ index }: CutValue): string {
    return `${MARK}${index}.`;
  }

  /** A placeholder for the object that a string contains as JSON text. */
  placeholderInside(cut: CutValue, members: JsonObject): { value: JsonObject; token: string } {
    const token = `${MARK}${cut.index}=`;
    return { value: { ...members, [MARK]: token }, token };
  }

  /** A JSON text with the values for its tokens; within a string, the characters of a string. */
  async *expand(text: string): AsyncGenerator<Uint8Array, void, undefined> {
    let from = 0;
    for (const { 0: token, index: at, groups } of text.matchAll(TOKEN)) {
      yield Buffer.from(text.slice(from, at));
      from = at + token.length;
      const cut = this.#cut[Number(groups?.['index'])];
      if (cut === undefined) continue;
      if (token.endsWith('=')) yield Buffer.from(await this.#decoded(cut));
      else yield* cut.type === 'string' ? stringText(this.chunks(cut)) : this.chunks(cut);
    }
    yield Buffer.from(text.slice(from));
  }

  /** About how long the expanded text is, in bytes. */
  expandedSize(text: string): number {
    const cut = Array.from(text.matchAll(TOKEN), ([, index]) => this.#cut[Number(index)]);
    return cut.reduce((size, value) => size + (value ? sizeOf(value) : 0), text.length);
  }

  /** An object without the members that its placeholder has or that were cut out, and with those of `added`. */
  otherMembers(
    { start, end, kept, apart }: CutValue,
    added?: AsyncIterable<Uint8Array>,
  ): AsyncGenerator<Buffer, void, undefined> {
    const omitted = new Set([...kept, ...apart].map(({ nameStart }) => nameStart - start));
    return omitMembers(this.chunks({ start, end }), omitted, added);
  }

  /** The bytes of a member that the placeholder has: the last one with this name. */
  async keptMember({ kept }: CutValue, name: string): Promise<Buffer | undefined> {
    const found = kept.findLast(({ path }) => path.at(-1) === name);
    return found && (await this.read(found));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file[Symbol.asyncDispose]();
  }

  async #decoded(cut: CutValue): Promise<string> {
    const text: unknown = JSON.parse((await this.read(cut)).toString());
    return String(text).trim();
  }

  #onValue(value: FoundValue): void {
    const { cut, kept, apart = [] } = this.#shape;
    if (value.path === ID) this.#id = value;
    else if (cut.includes(value.path)) this.#addCut(value);
    else if (kept.includes(value.path)) this.#addMember(this.#kept, value);
    else if (apart.includes(value.path)) this.#addMember(this.#apart, value);
    else this.#picked.set(value.path, value);
  }

  #addMember(members: FoundValue[], value: FoundValue): void {
    if (members.length < MAX_PLACEHOLDERS) members.push(value);
    else this.#isTooLong = true;
  }

  #addCut(found: FoundValue): void {
    const kept = this.#kept;
    const apart = this.#apart;
    const picked = [...this.#picked.values()];
    this.#kept = [];
    this.#apart = [];
    this.#picked.clear();
    const saved = sizeOf(found) - totalOf(kept) - PLACEHOLDER_SIZE;
    if (!CUT_TYPES.has(found.type) || saved < MIN_CUT_SIZE) return;
    if (this.#cut.length === MAX_PLACEHOLDERS) this.#isTooLong = true;
    if (this.#isTooLong) return;
    this.#cut.push({ ...found, index: this.#cut.length, kept, apart, picked });
    this.#cutSize += saved;
  }

  async #placeholder(value: CutValue, members: readonly FoundValue[]): Promise<Buffer> {
    const mark = `"${this.token(value)}"`;
    if (value.type !== 'object') return Buffer.from(value.type === 'array' ? `[${mark}]` : mark);
    const pieces: Uint8Array[] = [Buffer.from(`{"${MARK}":${mark}`)];
    for (const { nameStart, end } of members) {
      pieces.push(COMMA, await this.read({ start: nameStart, end }));
    }
    return Buffer.concat([...pieces, BRACE]);
  }
}

const TOKEN = new RegExp(`${MARK}(?<index>\\d+)[.=]`, 'g');
const CUT_TYPES: ReadonlySet<ValueType> = new Set(['object', 'array', 'string']);
const ID: JsonPath = ['id'];
const COMMA = Buffer.from(',');
const BRACE = Buffer.from('}');

function sizeOf({ start, end }: ByteRange): number {
  return end - start;
}

/** The size of these members, with a comma each. */
function totalOf(members: readonly FoundValue[]): number {
  return members.reduce((size, { nameStart, end }) => size + 1 + end - nameStart, 0);
}

function never(): false {
  return false;
}
