/**
 * From the text of a language file to a language.
 *
 * Owns telling its writer what to mend: every fault with its line, column and path. Upholds that
 * a language that is returned is whole, so that nobody who speaks it has to check again. Does no
 * I/O: the file's name is only for messages.
 */
import { Settings } from 'typebox/system';
import { Check, Errors } from 'typebox/value';
import { LineCounter, parseDocument, visit } from 'yaml';

import { KINDS } from '../kinds.ts';
import { LanguageSchema, PATH_PATTERN, SLUG_PATTERN, type Language } from './language-schema.ts';
import { offsetOf, pathAt, formatPath, parsePointer, valueAt, type Path } from './yaml-path.ts';
import { NON_BLANK_PATTERN } from './localized-text-schema.ts';

/** One thing wrong with a language file. */
export interface LanguageFault {
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** `rooms[0].title.uk`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
}

/** A language file that cannot be used; the message names every fault. */
export class LanguageError extends Error {
  readonly faults: readonly LanguageFault[];

  constructor(name: string, faults: readonly LanguageFault[]) {
    const lines = faults.map(({ line, column, path, message }) =>
      [`  ${name}:${line}:${column}`, path, message].filter((part) => part !== '').join(': '),
    );
    super([`Cannot use language file "${name}":`, ...lines].join('\n'));
    this.name = 'LanguageError';
    this.faults = faults;
  }
}

/** A fault before its line is looked up. */
interface Finding {
  readonly path: Path;
  readonly message: string;
  /** Whether the name itself is wrong, rather than its value. */
  readonly named?: boolean;
}

/** A value as it is quoted in a message. */
function quote(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

const PATTERNS: Readonly<Record<string, string>> = {
  [SLUG_PATTERN]: 'must be lower-case letters and digits, joined by single hyphens',
  [NON_BLANK_PATTERN]: 'must hold some text',
  [PATH_PATTERN]: 'must be a path that begins with "/"',
};

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
};

/** What the schema finds wrong, all of it, in words for the file's writer. */
function schemaFindings(value: unknown): Finding[] {
  const { maxErrors } = Settings.Get();
  Settings.Set({ maxErrors: Infinity });
  let errors: ReturnType<typeof Errors>;
  try {
    errors = Errors(LanguageSchema, value);
  } finally {
    Settings.Set({ maxErrors });
  }
  return errors.flatMap((error): Finding[] => {
    const path = parsePointer(error.instancePath);
    const schemaPath = parsePointer(error.schemaPath);
    const wants = (message: string): Finding[] => [
      { path, message: `${message}, got ${quote(valueAt(value, path))}` },
    ];
    const described = (...more: Path): Finding[] => {
      const text = valueAt(LanguageSchema, [...schemaPath, ...more, 'description']);
      return [{ path, message: typeof text === 'string' ? text : error.message }];
    };
    // What a branch of a condition finds is said once, by the condition.
    if (schemaPath.includes('then') || schemaPath.includes('else')) return [];
    switch (error.keyword) {
      case 'required':
        return error.params.requiredProperties.map((property) => ({
          path: [...path, property],
          message: 'is missing',
        }));
      case 'boolean':
        return [{ path, message: 'is not a word of this file', named: true }];
      case 'additionalProperties':
        return [];
      case 'const':
        return wants(`must be ${quote(error.params.allowedValue)}`);
      case 'enum':
        return wants(`must be ${error.params.allowedValues.map(quote).join(' or ')}`);
      case 'pattern':
        return wants(PATTERNS[String(error.params.pattern)] ?? error.message);
      case 'type': {
        const constant = valueAt(LanguageSchema, [...schemaPath, 'const']);
        if (constant !== undefined) return [];
        const types = [error.params.type].flat().map((type) => TYPES[type] ?? type);
        return wants(`must be ${types.join(' or ')}`);
      }
      case 'if':
        return described(error.params.failingKeyword);
      case 'contains':
        return described();
      case 'minItems':
        return [{ path, message: 'must not be empty' }];
      default:
        return [{ path, message: error.message }];
    }
  });
}

/** The second and later ones of what may be there once. */
function repeated(names: readonly (readonly [Path, string])[], what: string): Finding[] {
  const first = new Map<string, Path>();
  return names.flatMap(([path, name]) => {
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, path);
    return earlier === undefined
      ? []
      : [{ path, message: `repeats the ${what} "${name}" of ${formatPath(earlier)}` }];
  });
}

/** YAML can say what JSON cannot: infinities, and a mapping that holds itself. */
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

/** What no schema can see: names that must agree, or must differ. */
function sense(language: Language): Finding[] {
  const slugs = language.rooms.map(({ slug }) => slug);
  const noRoom = (path: Path, room: unknown): Finding[] =>
    typeof room !== 'string' || slugs.includes(room)
      ? []
      : [{ path, message: `must be one of the rooms (${slugs.join(', ')}), got "${room}"` }];
  const shown = (path: Path, list: readonly { name: string; example: unknown }[]): Finding[] =>
    list.flatMap(({ name, example }, at) =>
      name === 'room' ? noRoom([...path, String(at), 'example'], example) : [],
    );
  const names = (path: Path, list: readonly { name: string }[]) =>
    list.map(({ name }, at) => [[...path, String(at), 'name'], name] as const);
  const shared = [...names(['entry'], language.entry), ...names(['common'], language.common)];
  return [
    ...repeated(
      slugs.map((slug, at) => [['rooms', String(at), 'slug'], slug]),
      'slug',
    ),
    ...shown(['entry'], language.entry),
    ...shown(['common'], language.common),
    // `room` is both: the gateway's member, and how a visitor chooses it.
    ...repeated(names(['entry'], language.entry), 'name'),
    ...repeated(names(['common'], language.common), 'name'),
    ...KINDS.flatMap((kind) => {
      const { room, fields, sentences } = language.kinds[kind];
      const taken = new Map(shared.map(([path, name]) => [name, path]));
      const own = names(['kinds', kind, 'fields'], fields);
      const known = [...taken].map(([name, path]) => [path, name] as const);
      return [
        ...noRoom(['kinds', kind, 'room'], room),
        ...repeated([...known, ...own], 'name'),
        ...sentences.flatMap(({ body }, at) => {
          const path = ['kinds', kind, 'sentences', String(at), 'body'];
          const json = isJson(body) ? [] : [{ path, message: 'must be something JSON can say' }];
          return [...json, ...noRoom([...path, 'room'], body['room'])];
        }),
      ];
    }),
  ];
}

/**
 * Reads a language. Throws `LanguageError` for a text that is not YAML, is not of the shape of
 * `LanguageSchema`, or does not agree with itself.
 */
export function parseLanguage(text: string, name: string): Language {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    resolveKnownTags: false,
    stringKeys: true,
  });
  const fault = (offset: number, path: Path, message: string): LanguageFault => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1), path: formatPath(path), message };
  };
  const found = (findings: readonly Finding[]): LanguageError => {
    const faults = findings.map(({ path, message, named }) =>
      fault(offsetOf(document, path, named), path, message),
    );
    return new LanguageError(
      name,
      faults.toSorted((a, b) => a.line - b.line || a.column - b.column),
    );
  };

  const broken = [...document.errors, ...document.warnings];
  if (broken.length > 0) {
    const deep = broken.find(({ code }) => code === 'RESOURCE_EXHAUSTION');
    const faults = (deep === undefined ? broken : [deep]).map(({ pos, message }) =>
      fault(pos[0], pathAt(document, pos[0]), message),
    );
    throw new LanguageError(name, faults);
  }

  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    const faults: LanguageFault[] = [];
    const message = error instanceof Error ? error.message : String(error);
    visit(document, {
      Alias(_, alias) {
        const offset = alias.range?.[0] ?? 0;
        faults.push(fault(offset, pathAt(document, offset), message));
        return visit.BREAK;
      },
    });
    throw new LanguageError(name, faults.length > 0 ? faults : [fault(0, [], message)]);
  }

  if (!Check(LanguageSchema, value)) throw found(schemaFindings(value));
  const findings = sense(value);
  if (findings.length > 0) throw found(findings);
  return value;
}
