/**
 * Parses the text of a language file. Does no I/O: the file's name is only for messages. A language that it
 * returns is complete and consistent, so no code needs to check it again.
 *
 * Invariant: A faulty language file is reported with all its faults at once.
 * Test: `packages/protocol/src/language/language-file.test.ts` “is reported with all its faults at
 *   once”
 */
import { Settings } from 'typebox/system';
import { Check, Errors, Pointer } from 'typebox/value';
import { parseDocument } from 'yaml';

import { KINDS } from '../kinds.ts';
import { LanguageSchema, type Language } from './language-schema.ts';

interface LanguageFault {
  /** A JSON pointer (RFC 6901); empty for the file as a whole. */
  readonly at: string;
  readonly message: string;
}

/** Throws for a text that is not YAML, does not match `LanguageSchema`, or is inconsistent. */
export function parseLanguage(text: string, name: string): Language {
  const value = parsedYaml(text, name);
  if (!Check(LanguageSchema, value)) throw refusal(name, schemaFaults(value));
  const inconsistent = consistencyFaults(value);
  if (inconsistent.length > 0) throw refusal(name, inconsistent);
  return value;
}

function refusal(name: string, faults: readonly LanguageFault[]): Error {
  const lines = faults.map(({ at, message }) => (at === '' ? message : `${at}: ${message}`));
  return new Error([`Cannot use language file "${name}":`, ...lines].join('\n  '));
}

function parsedYaml(text: string, name: string): unknown {
  const document = parseDocument(text, { resolveKnownTags: false, stringKeys: true });
  const messages = [...document.errors, ...document.warnings].map(({ message }) => message);
  try {
    if (messages.length === 0) return document.toJS();
  } catch (error) {
    // Such as an alias without an anchor.
    messages.push(error instanceof Error ? error.message : String(error));
  }
  // The first line of a message says where it is, the next ones repeat the text.
  const faults = messages.map((message) => ({ at: '', message: message.replace(/:?\n[^]*/, '') }));
  throw refusal(name, faults);
}

type SchemaError = ReturnType<typeof Errors>[number];

function schemaFaults(value: unknown): LanguageFault[] {
  Settings.Set({ maxErrors: Infinity });
  return (
    Errors(LanguageSchema, value)
      // Of an additional property, which has an error with its name.
      .filter(({ keyword }) => keyword !== 'boolean')
      .map((error) => ({ at: error.instancePath, message: messageOf(error) }))
  );
}

function messageOf(error: SchemaError): string {
  switch (error.keyword) {
    case 'additionalProperties':
      return `must not have ${error.params.additionalProperties.join(', ')}`;
    case 'const':
      return `must be ${JSON.stringify(error.params.allowedValue)}`;
    case 'enum':
      return `must be one of ${JSON.stringify(error.params.allowedValues)}`;
    case 'if':
      return descriptionAt(`${error.schemaPath}/${error.params.failingKeyword}`) ?? error.message;
    case 'contains':
      return descriptionAt(error.schemaPath) ?? error.message;
    default:
      return error.message;
  }
}

function descriptionAt(schemaPath: string): string | undefined {
  const text: unknown = Pointer.Get(LanguageSchema, `${schemaPath.slice(1)}/description`);
  return typeof text === 'string' ? text : undefined;
}

/** A name and its JSON pointer. */
type NamedPlace = readonly [at: string, name: string];

/** What no schema can check: names that must agree, or must differ, across a language. */
function consistencyFaults({ rooms, entry, common, kinds }: Language): LanguageFault[] {
  const faults = new Map<string, string>();
  const slugs = rooms.map(({ slug }) => slug);
  const checkRoom = (at: string, room: unknown): void => {
    if (typeof room === 'string' && !slugs.includes(room))
      faults.set(at, `must be one of the rooms (${slugs.join(', ')}), got "${room}"`);
  };
  const checkUnique = (noun: string, names: readonly NamedPlace[]): void => {
    const first = new Map<string, string>();
    for (const [at, name] of names)
      if (first.has(name)) faults.set(at, `repeats the ${noun} "${name}" of ${first.get(name)}`);
      else first.set(name, at);
  };
  checkUnique(
    'slug',
    slugs.map((slug, index) => [`/rooms/${index}/slug`, slug]),
  );
  for (const [at, members] of Object.entries({ entry, common }))
    for (const [index, { name, example }] of members.entries())
      if (name === 'room') checkRoom(`/${at}/${index}/example`, example);
  // The gateway's `room` is the one that the visitor chooses.
  const own = namesOf('/entry', entry).filter(([, name]) => name !== 'room');
  const shared = [...own, ...namesOf('/common', common)];
  for (const kind of KINDS) {
    const { room, fields, sentences } = kinds[kind];
    const at = `/kinds/${kind}`;
    checkRoom(`${at}/room`, room);
    checkUnique('name', [...shared, ...namesOf(`${at}/fields`, fields)]);
    for (const [index, { body }] of sentences.entries())
      checkRoom(`${at}/sentences/${index}/body/room`, body['room']);
  }
  return [...faults].map(([at, message]) => ({ at, message }));
}

function namesOf(at: string, members: readonly { readonly name: string }[]): NamedPlace[] {
  return members.map(({ name }, index) => [`${at}/${index}/name`, name]);
}
