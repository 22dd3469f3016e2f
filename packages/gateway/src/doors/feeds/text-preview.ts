/**
 * What an entry says that is too long for a feed, as far as its beginning tells. Reads no more of
 * it than that.
 */
import { FILTERS } from '@open-presence/protocol';

import { Scanner } from '../../json/scanner.ts';
import type { Listener, ValueType } from '../../json/listener.ts';
import type { Entry } from '../../log/log.ts';

/** Bytes that are read for it at most: a name often stands behind a long text. */
const READ = 1024 * 1024;
/** Characters that are kept of each text. */
const KEPT = 1000;

/** By these an entry is shown. */
const SHOWN: ReadonlySet<string> = new Set(['text', ...FILTERS.identity]);

/** The texts by which an entry is shown, each cut after its beginning. */
export async function textPreviewOf(entry: Entry): Promise<Record<string, unknown>> {
  const listener = new Beginnings();
  const scanner = new Scanner(listener);
  let read = 0;
  for await (const piece of entry.chunks()) {
    scanner.feed(piece.subarray(0, READ - read));
    read += piece.length;
    if (read >= READ || listener.isEnough()) break;
  }
  return Object.fromEntries(listener.found());
}

class Beginnings implements Listener {
  readonly #members = new Map<string, string>();
  #bytes: Uint8Array = new Uint8Array();
  #name = '';
  #naming = false;
  #said: string | undefined;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });

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

  /** Whether all is known by which an entry is shown. */
  isEnough(): boolean {
    const named = FILTERS.identity.some((name) => this.#members.has(name));
    return named && (this.#members.has('text') || (this.#name === 'text' && this.#isFull()));
  }

  #isFull(): boolean {
    return this.#said !== undefined && this.#said.length >= KEPT;
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
    if (this.#said !== undefined && SHOWN.has(this.#name)) {
      this.#members.set(this.#name, cut(this.#said));
    }
    this.#said = undefined;
  }
}

/** Between characters. */
function cut(text: string): string {
  return text.length <= KEPT ? text : text.slice(0, KEPT).replace(/[\ud800-\udbff]$/, '');
}
