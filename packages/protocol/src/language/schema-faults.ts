/** Says where a value does not match the language's schema, in words for the file's author. */
import { Settings } from 'typebox/system';
import { Errors } from 'typebox/value';

import { CONTACT_PATTERN, LanguageSchema, PATH_PATTERN, SLUG_PATTERN } from './language-schema.ts';
import { NON_BLANK_PATTERN } from './schema-parts.ts';
import { parsePointer, valueAt, type Path, type PathFault } from './yaml-path.ts';

type SchemaError = ReturnType<typeof Errors>[number];

const PATTERNS: Readonly<Record<string, string>> = {
  [SLUG_PATTERN]: 'must be lower-case letters and digits, joined by single hyphens',
  [NON_BLANK_PATTERN]: 'must hold some text',
  [PATH_PATTERN]: 'must be a path that begins with "/"',
  [CONTACT_PATTERN]: 'must be an e-mail address, or a URL that begins with http',
};

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
};

/** All faults. Lifts the validator's limit of faults meanwhile. */
export function schemaFaults(value: unknown): PathFault[] {
  const { maxErrors } = Settings.Get();
  Settings.Set({ maxErrors: Infinity });
  try {
    return Errors(LanguageSchema, value).flatMap((error) => describeError(error, value));
  } finally {
    Settings.Set({ maxErrors });
  }
}

/** The faults that an error stands for; none if another error reports the same. */
function describeError(error: SchemaError, value: unknown): PathFault[] {
  const path = parsePointer(error.instancePath);
  const schemaPath = parsePointer(error.schemaPath);
  const unmet = (message: string): PathFault[] => [
    { path, message: `${message}, got ${quote(valueAt(value, path))}` },
  ];
  const described = (...more: Path): PathFault[] => {
    const text = valueAt(LanguageSchema, [...schemaPath, ...more, 'description']);
    return [{ path, message: typeof text === 'string' ? text : error.message }];
  };
  // The error of the `if` reports what its branches find.
  if (schemaPath.includes('then') || schemaPath.includes('else')) return [];
  switch (error.keyword) {
    case 'required':
      return error.params.requiredProperties.map((property) => ({
        path: [...path, property],
        message: 'is missing',
      }));
    case 'boolean':
      return [{ path, message: 'is not a word of this file', atKey: true }];
    case 'additionalProperties':
      return [];
    case 'const':
      return unmet(`must be ${quote(error.params.allowedValue)}`);
    case 'enum':
      return unmet(`must be ${error.params.allowedValues.map(quote).join(' or ')}`);
    case 'pattern':
      return unmet(PATTERNS[String(error.params.pattern)] ?? error.message);
    case 'type': {
      if (valueAt(LanguageSchema, [...schemaPath, 'const']) !== undefined) return [];
      const types = [error.params.type].flat().map((type) => TYPES[type] ?? type);
      return unmet(`must be ${types.join(' or ')}`);
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
}

function quote(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
