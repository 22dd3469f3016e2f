/**
 * Reads one body: copies its members, and collects the facets and what the rules ask about
 * (PROTOCOL.md sections 4 and 6). Holds none of the text but what it copies.
 *
 * Invariant: A body is judged the same in whatever chunks it arrives, small or large.
 * Test: `test/fuzz/intake.test.ts` “any JSON has the outcome that a naive reading of the rules
 *   gives it, however it is cut”
 * Test: `packages/gateway/src/intake/forms/form-body.test.ts` “has the same members in whatever
 *   pieces it comes, held or not”
 */
import { facet } from '../log/facet.ts';
import type { Draft } from '../log/log.ts';
import type { Portability } from '../log/portability.ts';
import { JsonHandler, type ValueType } from '../json/handler.ts';
import { StringDecoder } from '../json/string-decoder.ts';
import type { BodyBuffer } from './body-buffer.ts';
import { accepts, MAX_QUOTE, NO_QUOTE, validateBody, type BodyValue } from './body-validation.ts';
import { FacetList } from './facet-list.ts';
import type { Grammar, KindGrammar, Member } from './grammar.ts';
import { MemberCopier } from './member-copier.ts';
import { type NearMember, UnknownNames } from './near-members.ts';

/** A draft with what its author may be told about it. */
export interface ParsedDraft extends Draft {
  /** Whether it has `inReplyTo`, whatever that names. */
  readonly hasReplyTo?: true;
  /** Members that nearly have the name of one that the body lacks; at least one. */
  readonly near?: readonly NearMember[];
  /** The first names that it is addressed to; at least one. */
  readonly to?: readonly string[];
}

/** How many names of one body are looked at. */
export const MAX_ADDRESSED = 8;

export class BodyReader extends JsonHandler {
  readonly #grammar: Grammar;
  readonly #kind: KindGrammar;
  readonly #copier: MemberCopier;
  /** The facets of each member that has a filter or a rule, by name. */
  readonly #lists: ReadonlyMap<string, FacetList>;
  readonly #values = new Map<string, BodyValue>();
  /** Names of members that mean something and are not null. */
  readonly #present = new Set<string>();
  readonly #unknown = new UnknownNames();
  readonly #string = new StringDecoder();
  #rootType: ValueType = 'null';
  /** The room that the body names, undefined if there is none of this name. */
  #room: string | undefined;
  #isRoomNamed = false;
  #hasReplyTo = false;
  #to: string[] = [];
  /** The number in `inReplyTo` that is being read. */
  #replyNumber: Pick<BodyValue, 'type' | 'quote'> | undefined;

  /** Whether the current string is a name that could still be a known one. */
  #isNameOpen = false;
  #member: Member | undefined;
  /** Whether the name `room` was read, whose value decides whether it counts. */
  #isRoomDeferred = false;
  #isDecodingValue = false;
  #elements = 0;
  /** Whether the current array has an element that is no string. */
  #isMixed = false;
  /** The value that is quoted, and where the rest of it starts in the piece. */
  #quoted: Pick<BodyValue, 'quote'> | undefined;
  #quoteFrom = 0;

  constructor(grammar: Grammar, kind: KindGrammar) {
    super();
    this.#grammar = grammar;
    this.#kind = kind;
    this.#copier = new MemberCopier(kind.longestName);
    this.#lists = new Map(
      kind.filterMembers.map(({ name, filter }) => [name, new FacetList(filter)]),
    );
  }

  get body(): BodyBuffer {
    return this.#copier.body;
  }

  /**
   * After the end: a draft with the facets of kind and room and those of the members, in order. Throws for an
   * invalid body.
   */
  draft(
    { body, key }: Pick<Draft, 'body'> & { readonly key: Uint8Array | undefined },
    portability: Portability,
  ): ParsedDraft {
    const { kind, meant } = this.#kind;
    const room = this.#isRoomNamed ? this.#room : this.#kind.room;
    const names = [...this.#unknown, ...this.#present];
    const values = { root: this.#rootType, members: this.#values, names, room };
    const error = validateBody(values, this.#kind, this.#grammar);
    if (error !== undefined) throw error;
    if (room === undefined) throw new Error('A body without a room must have been refused');
    const near = meant?.near(this.#unknown, (name) => this.#present.has(name)) ?? [];
    const lists = Array.from(this.#lists.values(), ({ joined }) => joined);
    const facets = Buffer.concat([facet('kind', kind), facet('room', room), ...lists]);
    return {
      kind,
      room,
      facets,
      body,
      portability,
      ...(key === undefined ? {} : { key }),
      ...(this.#hasReplyTo ? { hasReplyTo: true as const } : {}),
      ...(near.length === 0 ? {} : { near }),
      ...(this.#to.length === 0 ? {} : { to: this.#to }),
    };
  }

  override startPiece(bytes: Uint8Array, offset: number): void {
    super.startPiece(bytes, offset);
    this.#copier.startPiece(bytes, offset);
  }

  override endPiece(): void {
    this.#copier.endPiece();
    this.#addToQuote(this.piece.length);
    this.#quoteFrom = 0;
  }

  override startName(at: number): boolean {
    this.#isNameOpen = true;
    this.#copier.startName(at);
    this.#string.start();
    return true;
  }

  override endName(at: number): void {
    this.#member = undefined;
    if (!this.#isNameOpen) return;
    this.#isNameOpen = false;
    const { members, nameSizes, meant } = this.#kind;
    // Decoding a name costs more than looking at its size.
    const isDecoded =
      nameSizes.has(this.#string.size) || (meant !== undefined && !this.#unknown.isFull);
    const name = isDecoded ? (this.#string.value ?? '') : '';
    const member = members.get(name);
    if (member === undefined) this.#unknown.add(name);
    if (member?.isOwn !== true) {
      this.#member = member;
      this.#copier.copyName();
    } else if (member.isRoom && !this.#isRoomNamed) {
      this.#member = member;
      this.#isRoomDeferred = true;
      this.#copier.deferName(at);
    } else {
      this.#copier.renameName(at);
    }
  }

  override colon(at: number): void {
    this.#copier.colon(at);
  }

  override comma(at: number): void {
    this.#copier.comma(at);
  }

  override text(from: number, to: number): void {
    if (!this.#isNameOpen && !this.#isDecodingValue) return;
    this.#string.text(this.piece, from, to);
    if (this.#isNameOpen) this.#closeLongName();
  }

  override escaped(code: number): void {
    if (!this.#isNameOpen && !this.#isDecodingValue) return;
    this.#string.escaped(code);
    if (this.#isNameOpen) this.#closeLongName();
  }

  override startValue(type: ValueType, depth: number, at: number): boolean {
    if (depth === 0) {
      this.#rootType = type;
      this.#copier.startObject(at);
      return type === 'object';
    }
    if (depth === 2) return this.#startElement(type, at);
    if (this.#isRoomDeferred) this.#decideRoom(type, at);
    return this.#member !== undefined && this.#startMember(this.#member, type, at);
  }

  override endValue(depth: number, at: number): void {
    if (depth === 0) return;
    if (this.#isDecodingValue) this.#endString();
    this.#addToQuote(at);
    this.#quoted = undefined;
    this.#endReplyNumber();
    if (depth === 1) this.#copier.endValue(at);
  }

  /** The first `room` that is not null counts. */
  #decideRoom(type: ValueType, at: number): void {
    this.#isRoomDeferred = false;
    if (type !== 'null') {
      this.#isRoomNamed = true;
      this.#copier.omitDeferred();
      return;
    }
    this.#member = undefined;
    this.#copier.renameDeferred(at);
  }

  #startMember({ name, rule, isRoom, takesArray }: Member, type: ValueType, at: number): boolean {
    const list = this.#lists.get(name);
    list?.clear();
    if (type === 'null') this.#present.delete(name);
    else this.#present.add(name);
    if (name === 'inReplyTo') this.#hasReplyTo = false;
    if (name === 'to') this.#to = [];
    this.#elements = 0;
    this.#isMixed = false;
    if (rule !== undefined) {
      const value = { type, quote: NO_QUOTE };
      this.#values.set(name, value);
      if (isRoom || !accepts(rule, type)) this.#startQuote(value, at);
    }
    if (name === 'inReplyTo' && type === 'number') {
      this.#replyNumber = { type, quote: NO_QUOTE };
      this.#startQuote(this.#replyNumber, at);
    }
    if (type !== 'string') return type === 'array' && takesArray;
    return (list !== undefined || isRoom) && this.#startString(list);
  }

  #startElement(type: ValueType, at: number): boolean {
    const index = this.#elements;
    this.#elements++;
    if (this.#isMixed || this.#member === undefined) return false;
    const list = this.#lists.get(this.#member.name);
    if (type === 'string') return list !== undefined && this.#startString(list);
    this.#isMixed = true;
    list?.clear();
    const value = this.#values.get(this.#member.name);
    if (value === undefined) return false;
    value.element = { index, type, quote: NO_QUOTE };
    this.#startQuote(value.element, at);
    return false;
  }

  #startString(list: FacetList | undefined): true {
    this.#isDecodingValue = true;
    this.#string.start(list?.filter);
    return true;
  }

  #startQuote(value: Pick<BodyValue, 'type' | 'quote'>, at: number): void {
    if (value.type === 'string' || value.type === 'number') this.#quoted = value;
    this.#quoteFrom = at;
  }

  #addToQuote(to: number): void {
    if (this.#quoted === undefined || this.#quoted.quote.length > MAX_QUOTE) return;
    const { quote } = this.#quoted;
    const end = Math.min(to, this.#quoteFrom + MAX_QUOTE + 1 - quote.length);
    this.#quoted.quote = Buffer.concat([quote, this.piece.subarray(this.#quoteFrom, end)]);
  }

  #endString(): void {
    this.#isDecodingValue = false;
    const list = this.#lists.get(this.#member?.name ?? '');
    const hashed = this.#string.facet();
    if (hashed !== undefined) {
      list?.add(hashed);
      if (list?.filter === 'inReplyTo') this.#hasReplyTo = true;
      if (list?.filter === 'to' && this.#to.length < MAX_ADDRESSED)
        this.#to.push(this.#string.value ?? '');
      return;
    }
    const slug = this.#string.value;
    this.#room = slug !== undefined && this.#grammar.rooms.has(slug) ? slug : undefined;
  }

  /** An entry is found by the number of another as by its digits. */
  #endReplyNumber(): void {
    if (this.#replyNumber === undefined) return;
    const number = Number(Buffer.from(this.#replyNumber.quote).toString());
    this.#replyNumber = undefined;
    this.#hasReplyTo = true;
    this.#lists.get('inReplyTo')?.add(facet('inReplyTo', String(number)));
  }

  /** A name that is longer than all known ones need not be held. */
  #closeLongName(): void {
    if (this.#string.size <= this.#kind.longestName) return;
    this.#isNameOpen = false;
    this.#copier.copyName();
  }
}
