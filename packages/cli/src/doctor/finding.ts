/** One result of a check of `presence doctor`. */
export interface Finding {
  readonly check: string;
  readonly level: 'ok' | 'warning' | 'fault';
  readonly text: string;
  /** What to do; undefined if nothing has to be done. */
  readonly mend?: string;
}

export function ok(check: string, text: string): Finding {
  return { check, level: 'ok', text };
}

export function warning(check: string, text: string, mend: string): Finding {
  return { check, level: 'warning', text, mend };
}

export function fault(check: string, text: string, mend: string): Finding {
  return { check, level: 'fault', text, mend };
}

export function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}
