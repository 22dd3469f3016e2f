import { OWN_MEMBERS, type Kind } from '@open-presence/protocol';

import { facet } from '../log/facet.ts';
import type { Grammar, Member } from './grammar.ts';

/** Rooms come from elsewhere: they could be any number. */
const MAX_CACHED = 256;

/**
 * Grammars for bodies that a log has already, under whatever rules: they find the facets, and refuse
 * nothing but what is no JSON object. What a gateway has stored comes back byte for byte, also a member
 * with a name that is reserved here. A member with the name of an own one, which none has stored, does not.
 */
export class StoredGrammar {
  readonly #grammar: Grammar;
  readonly #cache = new Map<string, Grammar>();

  constructor(grammar: Grammar) {
    this.#grammar = grammar;
  }

  /** `room`: of the entry. */
  for(kind: Kind, room: string): Grammar {
    const name = `${kind}/${room}`;
    const cached = this.#cache.get(name);
    if (cached !== undefined) return cached;
    if (this.#cache.size >= MAX_CACHED) this.#cache.clear();
    const created = withoutRules(this.#grammar, kind, room);
    this.#cache.set(name, created);
    return created;
  }
}

function withoutRules(grammar: Grammar, kind: Kind, room: string): Grammar {
  const { members, meant: _, ...rest } = grammar.kinds[kind];
  const stored = {
    ...rest,
    room,
    rules: [],
    members: new Map(Array.from(members, ([name, member]) => [name, withoutRule(member)])),
    facets: Buffer.concat([facet('kind', kind), facet('room', room)]),
  };
  return { ...grammar, kinds: { ...grammar.kinds, [kind]: stored } };
}

function withoutRule(member: Member): Member {
  const isOwn = OWN_MEMBERS.some((own) => own === member.name);
  return { ...member, isOwn, isRoom: false, rule: undefined };
}
