/** The rooms, members and member types of the language, in the form that reading a body needs. */
import {
  FILTER_MEMBERS,
  FILTER_NAMES,
  KINDS,
  OWN_MEMBERS,
  type Filter,
  type Kind,
  type Language,
} from '@open-presence/protocol';

import { facet } from '../log/facet.ts';

/** `strings` is an array of strings. */
export type FieldType = 'string' | 'strings' | 'string or strings';

/** What PROTOCOL.md section 6.2 demands of a member. */
export interface Rule {
  readonly type: FieldType;
  readonly required: boolean;
}

/** A member of a body that means something to the gateway. */
export interface Member {
  /** Position in the list of the kind's known members. */
  readonly index: number;
  readonly name: string;
  /** The name in UTF-8. */
  readonly bytes: Uint8Array;
  /** Whether the gateway writes a member with this name itself. */
  readonly isOwn: boolean;
  readonly isRoom: boolean;
  readonly rule: Rule | undefined;
  /** Whether a filter on this member finds each string of an array. */
  readonly takesArray: boolean;
}

export type RuledMember = Member & { readonly rule: Rule };
/** A member by whose value a filter finds entries. */
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
  /** The known members by the length of their names in bytes. */
  readonly membersByLength: readonly (readonly Member[])[];
  /** Facets of the kind and the default room, concatenated. */
  readonly facets: Uint8Array;
}

export interface Grammar {
  /** Slugs, in the order of the language. */
  readonly rooms: ReadonlySet<string>;
  readonly kinds: Readonly<Record<Kind, KindGrammar>>;
}

const ROOM = 'room' satisfies (typeof OWN_MEMBERS)[number];
const encoder = new TextEncoder();

export function createGrammar(language: Pick<Language, 'kinds' | 'common' | 'rooms'>): Grammar {
  const rooms = new Set(language.rooms.map((room) => room.slug));
  const fields = KINDS.flatMap((kind) => language.kinds[kind].fields).concat(language.common);
  const arrays = new Set(
    fields.filter((field) => hasRule(field) && field.type !== 'string').map(({ name }) => name),
  );
  const create = (kind: Kind): KindGrammar => createKindGrammar(kind, language, arrays);
  return {
    rooms,
    kinds: {
      resonance: create('resonance'),
      garden: create('garden'),
      seeds: create('seeds'),
      shepit: create('shepit'),
    },
  };
}

/** A suggested field may have any value. */
function hasRule(field: Language['common'][number]): boolean {
  return field.suggested !== true;
}

function createKindGrammar(
  kind: Kind,
  { kinds, common }: Pick<Language, 'kinds' | 'common'>,
  arrays: ReadonlySet<string>,
): KindGrammar {
  const { room, fields, sentences } = kinds[kind];
  const rules = new Map<string, Rule>(
    [...fields, ...common]
      .filter(hasRule)
      .map(({ name, type, required }) => [name, { type, required }]),
  );
  const filters = filtersByMember();
  const names = [...new Set<string>([...rules.keys(), ...filters.keys(), ...OWN_MEMBERS])];
  const members = names.map((name, index): Member => ({
    index,
    name,
    bytes: encoder.encode(name),
    isOwn: OWN_MEMBERS.some((own) => own === name),
    isRoom: name === ROOM,
    rule: rules.get(name),
    takesArray: arrays.has(name),
  }));
  const longest = Math.max(...members.map((member) => member.bytes.length));
  return {
    kind,
    room,
    example: sentences[0]?.body,
    rules: members.flatMap(({ rule, ...rest }) => (rule === undefined ? [] : [{ ...rest, rule }])),
    filterMembers: [...filters].flatMap(([name, filter]) =>
      members.filter((member) => member.name === name).map((member) => ({ ...member, filter })),
    ),
    membersByLength: Array.from({ length: longest + 1 }, (_, length) =>
      members.filter((member) => member.bytes.length === length),
    ),
    facets: Buffer.concat([facet('kind', kind), facet('room', room)]),
  };
}

function filtersByMember(): Map<string, Filter> {
  const filters = new Map<string, Filter>();
  for (const filter of FILTER_NAMES) {
    for (const name of FILTER_MEMBERS[filter]) filters.set(name, filter);
  }
  return filters;
}
