/**
 * Errors that a caller can cause, and their form as problem details (RFC 9457, PROTOCOL.md section
 * 11). The code that detects a fault throws `GatewayError`; each door maps it to its own protocol,
 * HTTP by `statusOf` and `problemDocument`.
 */
import type { Code } from './kinds.ts';

/** One fault of a request. */
export interface Fault {
  /** JSON pointer (RFC 6901) to the member of the body, `""` for the body as a whole. */
  readonly pointer?: string;
  /** Name of the query parameter or header. */
  readonly parameter?: string;
  /** Says what is expected there, and what was found. */
  readonly detail: string;
}

/** Extension members (RFC 9457 section 3.2) that help a caller to correct its request. */
export interface ProblemExtensions {
  readonly faults?: readonly Fault[];
  /** Where a text stopped being JSON or UTF-8. Offset in bytes from 0, line and column from 1. */
  readonly position?: { readonly offset: number; readonly line: number; readonly column: number };
  /** A body, path or value that works. */
  readonly example?: unknown;
  /** The values that exist: rooms, kinds, paths or methods. */
  readonly known?: readonly string[];
  /** The entry that already carries the idempotency key. */
  readonly entry?: string;
  /** The newest seq and the name of the log, if the caller's cursor is not from this log. */
  readonly head?: number;
  readonly log?: string;
  /** The gateway that stores entries, if the request was sent to a mirror. */
  readonly origin?: string;
}

/** The only error that a caller can cause. A broken invariant is a plain `Error`. */
export class GatewayError extends Error {
  readonly code: Code;
  readonly extensions: ProblemExtensions;
  /** The HTTP status: usually that of the code; 404 if a path names something that does not exist. */
  readonly status: number;

  constructor(
    code: Code,
    message: string,
    extensions: ProblemExtensions = {},
    status: number = statusOf(code),
  ) {
    super(message);
    this.name = 'GatewayError';
    this.code = code;
    this.extensions = extensions;
    this.status = status;
  }
}

/** The status of each code, and the section of PROTOCOL.md on its subject, if it is not the one on errors. */
const CODES: Readonly<Record<Code, readonly [status: number, section?: string]>> = {
  'malformed-json': [400, '6'],
  'invalid-entry': [422, '6'],
  'unknown-room': [422, '5'],
  'unknown-kind': [422, '6'],
  'invalid-parameter': [400, '8'],
  'not-found': [404],
  'method-not-allowed': [405],
  'foreign-page': [403, '1.12'],
  'idempotency-conflict': [422, '7.4'],
  misdirected: [421, '20.5'],
  'out-of-space': [507],
  unavailable: [503],
  internal: [500],
};

export function statusOf(code: Code): number {
  return CODES[code][0];
}

/** `title`: the title of the code in the caller's locale. */
export function problemDocument(error: GatewayError, title: string): Record<string, unknown> {
  const [, section = '11'] = CODES[error.code];
  return {
    type: `/protocol.md?section=${section}#${error.code}`,
    title,
    status: error.status,
    detail: error.message,
    code: error.code,
    ...error.extensions,
  };
}

/** Controls, and characters that change the direction of the text around the quotation. */
const UNREADABLE = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const LONGEST_QUOTED = 100;

/** Quotes a caller's value for a `detail`, and cuts a long one. */
export function quoted(text: string): string {
  const cut = text.length > LONGEST_QUOTED ? `${text.slice(0, LONGEST_QUOTED)}…` : text;
  return JSON.stringify(cut.toWellFormed()).replaceAll(UNREADABLE, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
