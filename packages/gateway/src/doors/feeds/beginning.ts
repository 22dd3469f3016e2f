/**
 * What an entry says that is too long for a feed, as far as its beginning tells. Reads no more of
 * it than that.
 */
import { Scanner } from '../../intake/scanner.ts';
import type { Listener, ValueType } from '../../intake/listener.ts';
import type { Entry } from '../../log/log.ts';

/** Bytes that are read for it. */
const READ = 64 * 1024;
/** Characters that are kept of each text. */
const KEPT = 1000;

/** The texts among the outermost members, each cut after its beginning. */
export async function beginningOf(entry: Entry): Promise<Record<string, unknown>> {
  const listener = new Beginnings();
  const scanner = new Scanner(listener);
  let read = 0;
  for await (const piece of entry.pieces()) {
    scanner.feed(piece.subarray(0, READ - read));
    read += piece.length;
    if (read >= READ) break;
  }
  return Object.fromEntries(listener.found());
}

class Beginnings implements Listener {
  readonly #members = new Map<string, string>();
  #bytes: Uint8Array = new Uint8Array();
  #name = '';
  #naming = false;
  #said: string | undefined;
  #decoder = new TextDecoder();

  pieceBegins(bytes: Uint8Array): void {
    this.#bytes = bytes;
  }

  pieceEnds(): void {}

  valueBegins(type: ValueType, depth: number): boolean {
    if (depth === 0) return true;
    if (depth > 1 || type !== 'string') return false;
    this.#said = '';
    return true;
  }

  valueEnds(depth: number): void {
    if (depth === 1) this.#keep();
  }

  nameBegins(): void {
    this.#naming = true;
    this.#name = '';
  }

  nameEnds(): void {
    this.#naming = false;
  }

  colon(): void {}
  comma(): void {}

  text(from: number, to: number): void {
    this.#add(this.#decoder.decode(this.#bytes.subarray(from, Math.min(to, from + 4 * KEPT))));
  }

  unit(code: number): void {
    this.#add(String.fromCharCode(code));
  }

  /** Also what had not ended yet. */
  found(): ReadonlyMap<string, string> {
    this.#keep();
    return this.#members;
  }

  #add(text: string): void {
    if (this.#naming) this.#name += this.#name.length < KEPT ? text : '';
    else if (this.#said !== undefined && this.#said.length < KEPT) this.#said += text;
  }

  #keep(): void {
    if (this.#said !== undefined) this.#members.set(this.#name, this.#said.slice(0, KEPT));
    this.#said = undefined;
  }
}
