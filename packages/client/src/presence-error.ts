import type { Code, Fault, ProblemExtensions } from '@open-presence/protocol';

/**
 * - a code of PROTOCOL.md section 11: the gateway's answer
 * - `unreachable`: no connection, or one that broke off
 * - `unexpected-answer`: an answer that no gateway gives, such as a proxy's
 * - `other-log`: the gateway goes on with another log than the one that the cursor is from
 */
export type ErrorCode = Code | 'unreachable' | 'unexpected-answer' | 'other-log';

export interface ProblemDocument extends ProblemExtensions {
  readonly type: string;
  /** In the language of the request. */
  readonly title: string;
  readonly status: number;
  /** What was attempted, what is wrong, and what to send instead, in English. */
  readonly detail: string;
  readonly code: Code;
}

export interface PresenceErrorOptions extends ErrorOptions {
  readonly status?: number;
  readonly problem?: ProblemDocument;
  readonly retryAfterMs?: number | undefined;
  readonly cursor?: { readonly after?: number; readonly before?: number };
}

/**
 * What every call of this package throws, except for the reason of an abort and errors of arguments.
 *
 * @example
 * try {
 *   await gateway.leaveTrace({ text: 7 });
 * } catch (error) {
 *   if (!(error instanceof PresenceError)) throw error;
 *   console.log(error.code, error.status);
 *   for (const { pointer, detail } of error.faults) console.log(pointer, detail);
 * }
 */
export class PresenceError extends Error {
  readonly code: ErrorCode;
  /** The HTTP status; undefined without an answer. */
  readonly status: number | undefined;
  /** The problem document of the gateway (RFC 9457), if it sent one. */
  readonly problem: ProblemDocument | undefined;
  /** How long the gateway asks to wait. */
  readonly retryAfterMs: number | undefined;
  /** Of a listing that broke off: the filter to go on with, after its last entry. */
  readonly cursor: PresenceErrorOptions['cursor'];

  constructor(code: ErrorCode, message: string, options: PresenceErrorOptions = {}) {
    super(message, options);
    this.name = 'PresenceError';
    this.code = code;
    this.status = options.status;
    this.problem = options.problem;
    this.retryAfterMs = options.retryAfterMs;
    this.cursor = options.cursor;
  }

  /** Everything that is wrong with the request, with JSON pointers into the body (RFC 6901). */
  get faults(): readonly Fault[] {
    return this.problem?.faults ?? [];
  }

  /** Whether the same request may succeed later. 429: a proxy limits callers, though no gateway does. */
  get isTemporary(): boolean {
    if (this.status === undefined) return this.code === 'unreachable' && !isLasting(this.cause);
    return [429, 502, 503, 504, 507].includes(this.status);
  }
}

const LASTING = /CERT|UNABLE_TO_VERIFY|WRONG_VERSION_NUMBER|ERR_INVALID_URL/;

/**
 * Whether `fetch` would fail again: a certificate that does not hold, no TLS where the address says so, or a
 * port, a redirect or an address that it refuses. Node gives the latter no code. Browsers tell none of them.
 */
export function isLasting(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { name, message, cause } = error;
  if ('code' in error && LASTING.test(String(error.code))) return true;
  // A `Blob` whose file has changed.
  if (name === 'NotReadableError') return true;
  const isRefused = message === 'fetch failed' && cause instanceof Error && cause.name === 'Error';
  return (isRefused && !('code' in cause)) || isLasting(cause);
}

/** The error that a refusal stands for. `text`: its body. */
export function errorOf(response: Response, text: string): PresenceError {
  const { status, headers } = response;
  const retryAfterMs = retryAfter(headers);
  const problem = problemIn(text);
  if (problem === undefined) {
    const message = `${response.url} answered ${status} without a problem document: ${text.slice(0, 200)}`;
    return new PresenceError('unexpected-answer', message, { status, retryAfterMs });
  }
  return new PresenceError(problem.code, problem.detail, { status, problem, retryAfterMs });
}

/** The error of a result in an answer with many. */
export function errorOfProblem(problem: ProblemDocument): PresenceError {
  return new PresenceError(problem.code, problem.detail, { status: problem.status, problem });
}

/** Undefined for a text that is no problem document, or has members of wrong types. */
function problemIn(text: string): ProblemDocument | undefined {
  try {
    const value = JSON.parse(text) as Partial<ProblemDocument> | null;
    return isProblem(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isProblem(value: Partial<ProblemDocument> | null): value is ProblemDocument {
  const { code, detail, faults = [] }: Partial<ProblemDocument> = value ?? {};
  const isText = typeof code === 'string' && typeof detail === 'string';
  return isText && Array.isArray(faults) && faults.every((fault) => typeof fault === 'object');
}

/** `Retry-After` (RFC 9110 section 10.2.3): seconds, or a date. */
function retryAfter(headers: Headers): number | undefined {
  const value = headers.get('retry-after');
  if (value === null || value.trim() === '') return undefined;
  const seconds = Number(value);
  const wait = Number.isNaN(seconds) ? Date.parse(value) - Date.now() : seconds * 1000;
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}
