/**
 * What intake needs of the language: the rooms there are, the members that mean something, and
 * their types, laid out so that a member is found by its bytes.
 */
import {
  FILTER_MEMBERS,
  KINDS,
  OWN_MEMBERS,
  type Filter,
  type Kind,
  type Language,
} from '@open-presence/protocol';

import { facet } from '../log/facet.ts';

/** `strings` is an array of strings. */
export type FieldType = 'string' | 'strings' | 'string or strings';

/** What the rules ask of a member (PROTOCOL.md section 6.2). */
export interface Rule {
  readonly type: FieldType;
  readonly required: boolean;
}

/** A member of a body that means something to the gateway. */
export interface Member {
  /** Place in `KindGrammar.members`. */
  readonly index: number;
  readonly name: string;
  /** The name in UTF-8. */
  readonly bytes: Uint8Array;
  /** Whether the gateway writes a member of this name itself. */
  readonly own: boolean;
  readonly isRoom: boolean;
  readonly rule: Rule | undefined;
  /** The filter that it feeds. */
  readonly filter: Filter | undefined;
  /** Whether an array of strings feeds it too. */
  readonly many: boolean;
}

export type Ruled = Member & { readonly rule: Rule };
type Source = Member & { readonly filter: Filter };

export interface KindGrammar {
  readonly kind: Kind;
  /** Slug of the room for entries that name none. */
  readonly room: string;
  /** A body that works. */
  readonly example: unknown;
  readonly members: readonly Member[];
  readonly rules: readonly Ruled[];
  /** In the order of `FILTER_MEMBERS`. */
  readonly sources: readonly Source[];
  /** The members by the length of their names in bytes. */
  readonly byLength: readonly (readonly Member[])[];
  /** Facets of the kind and the default room, joined. */
  readonly facets: Uint8Array;
}

export interface Grammar {
  /** Slugs, in the order of the language. */
  readonly rooms: ReadonlySet<string>;
  /** Bytes of the longest slug. */
  readonly longestRoom: number;
  readonly kinds: Readonly<Record<Kind, KindGrammar>>;
}

type Fields = Language['common'];

const ROOM = 'room' satisfies (typeof OWN_MEMBERS)[number];
const encoder = new TextEncoder();

/** Made once, when the gateway starts. */
export function grammarOf(language: Pick<Language, 'kinds' | 'common' | 'rooms'>): Grammar {
  const rooms = new Set(language.rooms.map((room) => room.slug));
  const every = KINDS.flatMap((kind) => language.kinds[kind].fields).concat(language.common);
  const many = new Set(
    every.filter((field) => binds(field) && field.type !== 'string').map((field) => field.name),
  );
  const of = (kind: Kind): KindGrammar => kindGrammar(kind, language, many);
  return {
    rooms,
    longestRoom: Math.max(...[...rooms].map((slug) => encoder.encode(slug).length)),
    kinds: {
      resonance: of('resonance'),
      garden: of('garden'),
      seeds: of('seeds'),
      shepit: of('shepit'),
    },
  };
}

/** A suggested field is advice alone. */
function binds(field: Fields[number]): boolean {
  return field.suggested !== true;
}

function kindGrammar(
  kind: Kind,
  { kinds, common }: Pick<Language, 'kinds' | 'common'>,
  many: ReadonlySet<string>,
): KindGrammar {
  const { room, fields, sentences } = kinds[kind];
  const rules = new Map<string, Rule>(
    [...fields, ...common]
      .filter(binds)
      .map(({ name, type, required }) => [name, { type, required }]),
  );
  const filters = sourcesOfFilters();
  const names = new Set<string>([...rules.keys(), ...filters.keys(), ...OWN_MEMBERS]);
  const members = [...names].map((name, index): Member => {
    return {
      index,
      name,
      bytes: encoder.encode(name),
      own: OWN_MEMBERS.some((own) => own === name),
      isRoom: name === ROOM,
      rule: rules.get(name),
      filter: filters.get(name),
      many: many.has(name),
    };
  });
  const longest = Math.max(...members.map((member) => member.bytes.length));
  return {
    kind,
    room,
    example: sentences[0]?.body,
    members,
    rules: members.flatMap(({ rule, ...rest }) => (rule === undefined ? [] : [{ ...rest, rule }])),
    sources: [...filters].flatMap(([name, filter]) =>
      members.filter((member) => member.name === name).map((member) => ({ ...member, filter })),
    ),
    byLength: Array.from({ length: longest + 1 }, (_, length) =>
      members.filter((member) => member.bytes.length === length),
    ),
    facets: Buffer.concat([facet('kind', kind), facet('room', room)]),
  };
}

function sourcesOfFilters(): Map<string, Filter> {
  const sources = new Map<string, Filter>();
  for (const filter of Object.keys(FILTER_MEMBERS).filter(isFilter)) {
    for (const name of FILTER_MEMBERS[filter]) sources.set(name, filter);
  }
  return sources;
}

function isFilter(name: string): name is Filter {
  return Object.hasOwn(FILTER_MEMBERS, name);
}
