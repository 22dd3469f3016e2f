/**
 * Reads one body: takes its members over as text, and learns what they mean.
 *
 * Upholds (PROTOCOL.md section 4): every member goes out as it was spelled, save that the names of
 * the gateway's own members get a prefix and the `room` that counts is left out together with one
 * comma. What the scanner has not yet settled is held as numbers, never as text.
 */
import { VISITOR_PREFIX } from '@open-presence/protocol';

import { facet } from '../log/facet.ts';
import type { Draft } from '../log/log.ts';
import { BodyText } from './body-text.ts';
import { Excerpt } from './excerpt.ts';
import { FacetList } from './facet-list.ts';
import { refusalOf, takes, type Found } from './findings.ts';
import type { Grammar, KindGrammar, Member } from './grammar.ts';
import { JsonHandler, type ValueType } from '../json/handler.ts';
import { StringDecoder } from '../json/string-decoder.ts';

const COMMA = Buffer.from(',');
const COLON = Buffer.from(':');
const PREFIX = Buffer.from(`"${VISITOR_PREFIX}`);
/** Bytes of a name that was begun but not recognised yet: each may be written as `\u0000`. */
const RAW = 6;
const NOWHERE = -1;

export interface Measures {
  /** Bytes to make room for at first. */
  readonly capacity: number;
  /** How many facets of one member may be held. */
  readonly facets: number;
}

export class Reader extends JsonHandler {
  readonly body: BodyText;
  /** In the order of the kind's sources. */
  readonly lists: readonly FacetList[];
  readonly #grammar: Grammar;
  readonly #kind: KindGrammar;
  readonly #listOf: (FacetList | undefined)[] = [];
  readonly #found: (Found | undefined)[] = [];
  readonly #said = new StringDecoder();
  #root: ValueType = 'null';
  #room: string | undefined;
  #roomTaken = false;

  #piece: Uint8Array = COMMA;
  #offset = 0;
  /** From where on bytes of the piece go out, or are held while a name is not yet recognised. */
  #from = NOWHERE;
  #naming = false;
  /** The part of such a name that came with earlier pieces. */
  readonly #held: Buffer;
  #heldLength = 0;

  /** The member at hand, if it means something. */
  #member: Member | undefined;
  /** Whether its name waits for its value, whether it is left out, whether its text is listened to. */
  #waiting = false;
  #leftOut = false;
  #heard = false;
  #elements = 0;
  #spoilt = false;
  readonly #excerpt = new Excerpt();
  #excerptFrom = NOWHERE;
  #excerptOf: { excerpt: string } | undefined;

  // Offsets of the whole text, from which spaces are counted.
  #gapBegins = 0;
  #nameBegins = 0;
  #nameEnds = 0;
  #colon = 0;
  #valueEnds = 0;
  /** Spaces between the last member that went out and its comma. */
  #trail = 0;
  #any = false;

  constructor(grammar: Grammar, kind: KindGrammar, measures: Measures) {
    super();
    this.#grammar = grammar;
    this.#kind = kind;
    this.body = new BodyText(measures.capacity);
    this.lists = kind.sources.map(({ index, filter }) => {
      const list = new FacetList(filter, measures.facets);
      this.#listOf[index] = list;
      return list;
    });
    this.#held = Buffer.allocUnsafe((kind.byLength.length + 2) * RAW);
  }

  /**
   * After the end: the draft of what was read, whose body has been kept. Its facets are kind, room
   * and those that are held, in the order of the sources. Throws what is wrong with the body.
   */
  draft(body: Draft['body'], key: Uint8Array | undefined): Draft {
    const { kind } = this.#kind;
    const room = this.#roomTaken ? this.#room : this.#kind.room;
    const findings = { root: this.#root, members: this.#found, room };
    const refusal = refusalOf(findings, this.#kind, this.#grammar);
    if (refusal !== undefined) throw refusal;
    if (room === undefined) throw new Error('A body without a room must have been refused');
    const held = this.lists.map((list) => list.held);
    const facets = Buffer.concat([facet('kind', kind), facet('room', room), ...held]);
    return { kind, room, facets, body, ...(key === undefined ? {} : { key }) };
  }

  override startPiece(bytes: Uint8Array, offset: number): void {
    this.#piece = bytes;
    this.#offset = offset;
  }

  override endPiece(): void {
    const end = this.#piece.length;
    if (this.#from !== NOWHERE) {
      if (this.#naming) this.#hold(end);
      else this.body.add(this.#piece, this.#from, end);
      this.#from = 0;
    }
    if (this.#excerptFrom === NOWHERE) return;
    this.#excerpt.add(this.#piece, this.#excerptFrom, end);
    this.#excerptFrom = 0;
  }

  override startName(at: number): boolean {
    this.#naming = true;
    this.#from = at;
    this.#heldLength = 0;
    this.#nameBegins = this.#offset + at;
    this.#said.begin();
    return true;
  }

  override endName(at: number): void {
    this.#member = undefined;
    if (!this.#naming) return;
    this.#said.end();
    const member = this.#kind.byLength[this.#said.length]?.find(({ bytes }) =>
      this.#said.is(bytes),
    );
    if (member === undefined || !member.own) {
      this.#member = member;
      this.#keepName();
      return;
    }
    this.#naming = false;
    this.#hold(at);
    this.#from = NOWHERE;
    if (member.isRoom && !this.#roomTaken) {
      this.#member = member;
      this.#waiting = true;
      this.#nameEnds = this.#offset + at;
    } else {
      this.#renameHeld();
      this.#from = at;
    }
  }

  override colon(at: number): void {
    this.#colon = this.#offset + at;
  }

  override comma(at: number): void {
    if (!this.#leftOut) this.#trail = this.#offset + at - this.#valueEnds;
    this.#leftOut = false;
    this.#gapBegins = this.#offset + at + 1;
  }

  override text(from: number, to: number): void {
    if (!this.#naming && !this.#heard) return;
    this.#said.text(this.#piece, from, to);
    if (this.#naming) this.#keepLongName();
  }

  override codeUnit(code: number): void {
    if (!this.#naming && !this.#heard) return;
    this.#said.unit(code);
    if (this.#naming) this.#keepLongName();
  }

  override startValue(type: ValueType, depth: number, at: number): boolean {
    if (depth === 0) {
      this.#root = type;
      this.#gapBegins = this.#offset + at + 1;
      return type === 'object';
    }
    if (depth === 2) return this.#elementBegins(type, at);
    if (this.#waiting) this.#settleRoom(type, at);
    return this.#member !== undefined && this.#memberBegins(this.#member, type, at);
  }

  override endValue(depth: number, at: number): void {
    if (depth === 0) return;
    if (this.#heard) this.#heardAll();
    if (this.#excerptOf !== undefined) this.#quoted(this.#excerptOf, at);
    if (depth === 2) return;
    this.#valueEnds = this.#offset + at;
    if (this.#from === NOWHERE) return;
    this.body.add(this.#piece, this.#from, at);
    this.#from = NOWHERE;
  }

  /** The value of a `room` that could count has begun. */
  #settleRoom(type: ValueType, at: number): void {
    this.#waiting = false;
    if (type !== 'null') {
      this.#roomTaken = true;
      this.#leftOut = true;
      return;
    }
    this.#member = undefined;
    this.#renameHeld();
    this.body.spaces(this.#colon - this.#nameEnds);
    this.body.add(COLON, 0, 1);
    this.body.spaces(this.#offset + at - this.#colon - 1);
    this.#from = at;
  }

  #memberBegins(member: Member, type: ValueType, at: number): boolean {
    const list = this.#listOf[member.index];
    list?.clear();
    this.#elements = 0;
    this.#spoilt = false;
    if (member.rule !== undefined) {
      const found = { type, excerpt: '' };
      this.#found[member.index] = found;
      if (member.isRoom || !takes(member.rule, type)) this.#quote(found, at);
    }
    if (type !== 'string') return type === 'array' && member.many;
    if (list === undefined && !member.isRoom) return false;
    this.#heard = true;
    this.#said.begin(list?.filter);
    return true;
  }

  #elementBegins(type: ValueType, at: number): boolean {
    const index = this.#elements;
    this.#elements++;
    if (this.#spoilt || this.#member === undefined) return false;
    const list = this.#listOf[this.#member.index];
    if (type === 'string') {
      this.#heard = list !== undefined;
      this.#said.begin(list?.filter);
      return this.#heard;
    }
    this.#spoilt = true;
    list?.clear();
    const found = this.#found[this.#member.index];
    if (found === undefined) return false;
    found.element = { index, type, excerpt: '' };
    this.#quote(found.element, at);
    return false;
  }

  #quote(found: { readonly type: ValueType; excerpt: string }, at: number): void {
    if (found.type !== 'string' && found.type !== 'number') return;
    this.#excerpt.begin();
    this.#excerptFrom = at;
    this.#excerptOf = found;
  }

  #quoted(found: { excerpt: string }, at: number): void {
    const needless = this.#member?.isRoom === true && this.#room !== undefined;
    this.#excerpt.add(this.#piece, this.#excerptFrom, at);
    if (!needless) found.excerpt = this.#excerpt.text;
    this.#excerptOf = undefined;
    this.#excerptFrom = NOWHERE;
  }

  #heardAll(): void {
    this.#heard = false;
    this.#said.end();
    const hashed = this.#said.facet();
    if (this.#member === undefined) return;
    if (hashed !== undefined) {
      this.#listOf[this.#member.index]?.add(hashed);
      return;
    }
    const slug = this.#said.held;
    this.#room = slug !== undefined && this.#grammar.rooms.has(slug) ? slug : undefined;
  }

  #hold(to: number): void {
    this.#held.set(this.#piece.subarray(this.#from, to), this.#heldLength);
    this.#heldLength += to - this.#from;
  }

  /** A name that is longer than all that mean something need not be held. */
  #keepLongName(): void {
    if (this.#said.long || this.#said.length >= this.#kind.byLength.length) this.#keepName();
  }

  #keepName(): void {
    this.#naming = false;
    this.#separate();
    this.body.add(this.#held, 0, this.#heldLength);
  }

  #renameHeld(): void {
    this.#separate();
    this.body.add(PREFIX, 0, PREFIX.length);
    this.body.add(this.#held, 1, this.#heldLength);
  }

  /** What stood between the last member that went out and this one. */
  #separate(): void {
    if (this.#any) {
      this.body.spaces(this.#trail);
      this.body.add(COMMA, 0, 1);
      this.body.spaces(this.#nameBegins - this.#gapBegins);
    }
    this.#any = true;
  }
}
