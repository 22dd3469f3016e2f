/**
 * Parses the text of a language file.
 *
 * Owns the error report for the file's author: every fault with its line, column and path. Does no
 * I/O: the file's name is only for messages. A language that it returns is complete and consistent, so
 * no code needs to check it again.
 *
 * Invariant: A faulty language file is reported with all its faults at once.
 * Test: `packages/protocol/src/language/language-file.test.ts` “is reported with all its faults at
 *   once, in the order of its lines”
 */
import { Check } from 'typebox/value';
import { LineCounter, parseDocument, visit, type Document } from 'yaml';

import { consistencyFaults } from './consistency.ts';
import { LanguageSchema, type Language } from './language-schema.ts';
import { schemaFaults } from './schema-faults.ts';
import { formatPath, offsetOf, pathAt, type Path, type PathFault } from './yaml-path.ts';

export interface LanguageFault {
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** Such as `rooms[0].title.uk`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
}

/** A refusal of a language file; the message names every fault. */
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

/** Throws `LanguageError` for a text that is not YAML, does not match `LanguageSchema`, or is inconsistent. */
export function parseLanguage(text: string, name: string): Language {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    resolveKnownTags: false,
    stringKeys: true,
  });
  const refuse = (faults: readonly OffsetFault[]): LanguageError =>
    new LanguageError(
      name,
      faults.map(({ offset, path, message }) => {
        const { line, col } = lines.linePos(offset);
        return {
          line: Math.max(line, 1),
          column: Math.max(col, 1),
          path: formatPath(path),
          message,
        };
      }),
    );
  const syntax = syntaxFaults(document);
  if (syntax.length > 0) throw refuse(syntax);
  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    throw refuse(aliasFaults(document, error));
  }
  if (!Check(LanguageSchema, value)) throw refuse(locate(document, schemaFaults(value)));
  const inconsistent = consistencyFaults(value);
  if (inconsistent.length > 0) throw refuse(locate(document, inconsistent));
  return value;
}

interface OffsetFault {
  readonly offset: number;
  readonly path: Path;
  readonly message: string;
}

/** Adds where in the file each fault is, and sorts them by that. */
function locate(document: Document, faults: readonly PathFault[]): OffsetFault[] {
  return faults
    .map(({ path, message, atKey }) => ({
      offset: offsetOf(document, path, atKey),
      path,
      message,
    }))
    .toSorted((a, b) => a.offset - b.offset);
}

function syntaxFaults(document: Document): OffsetFault[] {
  const errors = [...document.errors, ...document.warnings];
  // Nesting that exhausts the parser causes further, meaningless errors.
  const exhausted = errors.find(({ code }) => code === 'RESOURCE_EXHAUSTION');
  return (exhausted === undefined ? errors : [exhausted]).map(({ pos: [offset], message }) => ({
    offset,
    path: pathAt(document, offset),
    message,
  }));
}

/** Blames the first alias: a document cannot be converted if its aliases expand too far. */
function aliasFaults(document: Document, error: unknown): OffsetFault[] {
  const message = error instanceof Error ? error.message : String(error);
  let fault: OffsetFault = { offset: 0, path: [], message };
  visit(document, {
    Alias(_, { range }) {
      const offset = range?.[0] ?? 0;
      fault = { offset, path: pathAt(document, offset), message };
      return visit.BREAK;
    },
  });
  return [fault];
}
