/** Checks what no schema can: names that must agree, or must differ, across a language. */
import { KINDS, type Kind } from '../kinds.ts';
import type { Language } from './language-schema.ts';
import { formatPath, type Path, type PathFault } from './yaml-path.ts';

type Member = Language['common'][number] | Language['entry'][number];
/** A name and its place. */
type NamedPath = readonly [Path, string];

export function consistencyFaults(language: Language): PathFault[] {
  const { rooms, entry, common } = language;
  const slugs = rooms.map(({ slug }, at): NamedPath => [['rooms', String(at), 'slug'], slug]);
  return [
    ...duplicates(slugs, 'slug'),
    ...memberFaults(language, ['entry'], entry),
    ...memberFaults(language, ['common'], common),
    ...KINDS.flatMap((kind) => kindFaults(language, kind)),
  ];
}

function memberFaults(language: Language, path: Path, members: readonly Member[]): PathFault[] {
  const examples = members.flatMap(({ name, example }, at) =>
    name === 'room' ? roomFaults(language, [...path, String(at), 'example'], example) : [],
  );
  return [...examples, ...duplicates(namesOf(path, members), 'name')];
}

function kindFaults(language: Language, kind: Kind): PathFault[] {
  const { room, fields, sentences } = language.kinds[kind];
  // `room` may be in both lists: the gateway's member, and the visitor's that chooses it.
  const shared = new Map(
    [...namesOf(['entry'], language.entry), ...namesOf(['common'], language.common)].map(
      ([path, name]) => [name, path],
    ),
  );
  const sharedNames = [...shared].map(([name, path]): NamedPath => [path, name]);
  const own = namesOf(['kinds', kind, 'fields'], fields);
  return [
    ...roomFaults(language, ['kinds', kind, 'room'], room),
    ...duplicates([...sharedNames, ...own], 'name'),
    ...sentences.flatMap(({ body }, at) => {
      const path = ['kinds', kind, 'sentences', String(at), 'body'];
      const json = isJson(body) ? [] : [{ path, message: 'must be something JSON can say' }];
      return [...json, ...roomFaults(language, [...path, 'room'], body['room'])];
    }),
  ];
}

function namesOf(path: Path, members: readonly Member[]): NamedPath[] {
  return members.map(({ name }, at) => [[...path, String(at), 'name'], name]);
}

function roomFaults({ rooms }: Language, path: Path, room: unknown): PathFault[] {
  const slugs = rooms.map(({ slug }) => slug);
  if (typeof room !== 'string' || slugs.includes(room)) return [];
  return [{ path, message: `must be one of the rooms (${slugs.join(', ')}), got "${room}"` }];
}

/** A fault for each name after its first occurrence. */
function duplicates(names: readonly NamedPath[], noun: string): PathFault[] {
  const first = new Map<string, Path>();
  return names.flatMap(([path, name]) => {
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, path);
    return earlier === undefined
      ? []
      : [{ path, message: `repeats the ${noun} "${name}" of ${formatPath(earlier)}` }];
  });
}

/** YAML can express what JSON cannot: infinities, and a mapping that contains itself. */
function isJson(value: unknown): boolean {
  let finite = true;
  try {
    JSON.stringify(value, (_, part: unknown) => {
      if (typeof part === 'number' && !Number.isFinite(part)) finite = false;
      return part;
    });
  } catch {
    return false;
  }
  return finite;
}
