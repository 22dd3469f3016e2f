/** Checks what no schema can: names that must agree, or must differ, across a language. */
import { KINDS, type Kind } from '../kinds.ts';
import type { Language } from './language-schema.ts';

export interface LanguageFault {
  /** A JSON pointer (RFC 6901); empty for the file as a whole. */
  readonly at: string;
  readonly message: string;
}

type Member = Language['common'][number] | Language['entry'][number];
/** A name and its JSON pointer. */
type NamedPlace = readonly [at: string, name: string];

export function consistencyFaults(language: Language): LanguageFault[] {
  const { rooms, entry, common } = language;
  const slugs = rooms.map(({ slug }, index): NamedPlace => [`/rooms/${index}/slug`, slug]);
  return [
    ...duplicates(slugs, 'slug'),
    ...memberFaults(language, '/entry', entry),
    ...memberFaults(language, '/common', common),
    ...KINDS.flatMap((kind) => kindFaults(language, kind)),
  ];
}

function memberFaults(language: Language, at: string, members: readonly Member[]): LanguageFault[] {
  const examples = members.flatMap(({ name, example }, index) =>
    name === 'room' ? roomFaults(language, `${at}/${index}/example`, example) : [],
  );
  return [...examples, ...duplicates(namesOf(at, members), 'name')];
}

function kindFaults(language: Language, kind: Kind): LanguageFault[] {
  const { room, fields, sentences } = language.kinds[kind];
  const at = `/kinds/${kind}`;
  // `room` may be in both lists: the gateway's member, and the visitor's that chooses it.
  const shared = new Map(
    [...namesOf('/entry', language.entry), ...namesOf('/common', language.common)].map(
      ([place, name]) => [name, place],
    ),
  );
  const sharedNames = [...shared].map(([name, place]): NamedPlace => [place, name]);
  return [
    ...roomFaults(language, `${at}/room`, room),
    ...duplicates([...sharedNames, ...namesOf(`${at}/fields`, fields)], 'name'),
    ...sentences.flatMap(({ body }, index) =>
      roomFaults(language, `${at}/sentences/${index}/body/room`, body['room']),
    ),
  ];
}

function namesOf(at: string, members: readonly Member[]): NamedPlace[] {
  return members.map(({ name }, index) => [`${at}/${index}/name`, name]);
}

function roomFaults({ rooms }: Language, at: string, room: unknown): LanguageFault[] {
  const slugs = rooms.map(({ slug }) => slug);
  if (typeof room !== 'string' || slugs.includes(room)) return [];
  return [{ at, message: `must be one of the rooms (${slugs.join(', ')}), got "${room}"` }];
}

/** A fault for each name after its first occurrence. */
function duplicates(names: readonly NamedPlace[], noun: string): LanguageFault[] {
  const first = new Map<string, string>();
  return names.flatMap(([at, name]) => {
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, at);
    return earlier === undefined
      ? []
      : [{ at, message: `repeats the ${noun} "${name}" of ${earlier}` }];
  });
}
