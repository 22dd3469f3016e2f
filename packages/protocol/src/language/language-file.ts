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

import { consistencyFaults, type LanguageFault } from './consistency.ts';
import { LanguageSchema, type Language } from './language-schema.ts';

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
