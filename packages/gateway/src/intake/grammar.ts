/** The rooms, members and member types of the language, in the form that reading a body needs. */
import {
  FILTER_MEMBERS,
  FILTER_NAMES,
  KINDS,
  OWN_MEMBERS,
  RESERVED_MEMBERS,
  type Filter,
  type Kind,
  type Language,
} from '@open-presence/protocol';

import { facet } from '../log/facet.ts';
import { MAX_NEAR_LENGTH } from '../near-names.ts';
import { MeantMembers } from './near-members.ts';

type Field = Language['common'][number];
/** What PROTOCOL.md section 6.2 demands of a member. */
export interface Rule extends Pick<Field, 'required'> {
  readonly type: Field['type'] | 'string or number';
}

/** A visitor cannot have a member with one of these names: it is renamed. */
const GATEWAY_MEMBERS: readonly string[] = [...OWN_MEMBERS, ...RESERVED_MEMBERS];

/** A member of a body that means something to the gateway. */
export interface Member {
  readonly name: string;
  /** Whether only the gateway gives an entry a member with this name. */
  readonly isOwn: boolean;
  readonly isRoom: boolean;
  readonly rule: Rule | undefined;
  /** The filter that finds entries by the value of this member. */
  readonly filter: Filter | undefined;
  /** Whether the filter finds each string of an array. */
  readonly takesArray: boolean;
}

export type RuledMember = Member & { readonly rule: Rule };
type FilterMember = Member & { readonly filter: Filter };

export interface KindGrammar {
  readonly kind: Kind;
  /** Slug of the default room. */
  readonly room: string;
  /** A valid body. */
  readonly example: unknown;
  readonly rules: readonly RuledMember[];
  /** In the order of `FILTER_MEMBERS`. */
  readonly filterMembers: readonly FilterMember[];
  /** By name. */
  readonly members: ReadonlyMap<string, Member>;
  /** Bytes of each of these names, and of the longest that is looked at. */
  readonly nameSizes: ReadonlySet<number>;
  readonly longestName: number;
  /** Missing where nobody is told what other names may mean. */
  readonly meant?: MeantMembers;
  /** Facets of the kind and the default room, concatenated. */
  readonly facets: Uint8Array;
}

/** What the reading of a form needs. */
export type FormGrammar = Pick<KindGrammar, 'rules' | 'members'> & {
  readonly kind: string;
  /** How errors call it, if it is no entry. */
  readonly what?: string;
};

export interface Grammar {
  /** Slugs, in the order of the language. */
  readonly rooms: ReadonlySet<string>;
  readonly kinds: Readonly<Record<Kind, KindGrammar>>;
}

export function createGrammar(language: Pick<Language, 'kinds' | 'common' | 'rooms'>): Grammar {
  const fields = KINDS.flatMap((kind) => language.kinds[kind].fields).concat(language.common);
  const arrays = new Set(
    fields.filter((field) => hasRule(field) && field.type !== 'string').map(({ name }) => name),
  );
  const create = (kind: Kind): KindGrammar => createKindGrammar(kind, language, arrays);
  return {
    rooms: new Set(language.rooms.map((room) => room.slug)),
    kinds: {
      resonance: create('resonance'),
      garden: create('garden'),
      seeds: create('seeds'),
      shepit: create('shepit'),
    },
  };
}

/** A suggested field may have any value. */
function hasRule(field: Field): boolean {
  return field.suggested !== true;
}

/** An entry may be named by its seq as a number too. */
function ruleOf(field: Field): Rule {
  return field.name === 'inReplyTo' ? { ...field, type: 'string or number' } : field;
}

function createKindGrammar(
  kind: Kind,
  { kinds, common }: Pick<Language, 'kinds' | 'common'>,
  arrays: ReadonlySet<string>,
): KindGrammar {
  const { room, fields, sentences } = kinds[kind];
  const described = [...fields, ...common];
  const rules = new Map<string, Rule>(
    described.filter(hasRule).map((field) => [field.name, ruleOf(field)]),
  );
  const filters = new Map<string, Filter>(
    FILTER_NAMES.flatMap((filter) => FILTER_MEMBERS[filter].map((name) => [name, filter] as const)),
  );
  const memberOf = (name: string): Member => ({
    name,
    isOwn: GATEWAY_MEMBERS.includes(name),
    isRoom: name === 'room',
    rule: rules.get(name),
    filter: filters.get(name),
    takesArray: arrays.has(name),
  });
  const known = [...described.map(({ name }) => name), ...filters.keys()];
  const required = [...rules].flatMap(([name, rule]) => (rule.required ? [name] : []));
  const names = [...known, ...GATEWAY_MEMBERS];
  const nameSizes = new Set(names.map((name) => Buffer.byteLength(name)));
  return {
    kind,
    room,
    example: sentences[0]?.body,
    rules: Array.from(rules, ([name, rule]) => ({ ...memberOf(name), rule })),
    filterMembers: Array.from(filters, ([name, filter]) => ({ ...memberOf(name), filter })),
    members: new Map(names.map((name) => [name, memberOf(name)])),
    nameSizes,
    longestName: Math.max(...nameSizes, MAX_NEAR_LENGTH),
    meant: new MeantMembers(known, required),
    facets: Buffer.concat([facet('kind', kind), facet('room', room)]),
  };
}
