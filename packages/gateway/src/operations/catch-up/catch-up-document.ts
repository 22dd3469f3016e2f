/** What catching up finds, and the document by which HTTP answers it (PROTOCOL.md section 22). */
import type { CatchUpDocument } from '@open-presence/protocol';

export const CATCH_UP = '/api/catch-up';

/** The parameters of another request, which each door spells in its own way. */
export type RequestParameters = Readonly<Record<string, string | number>>;

/** What HTTP answers, with requests in place of paths. */
export interface CatchUp extends Omit<CatchUpDocument, 'more' | 'next' | 'sleep'> {
  readonly more: readonly {
    readonly what: string;
    readonly count: number;
    /** Left out where `next` leads to them. */
    readonly request?: RequestParameters;
  }[];
  /** Catches up with what did not fit; null if all did. */
  readonly next: RequestParameters | null;
  /** Catches up once something new concerns the visitor. */
  readonly sleep: RequestParameters;
}

/** With the requests as paths. */
export function catchUpDocument(found: CatchUp): CatchUpDocument {
  const { more, next, sleep } = found;
  return {
    ...found,
    more: more.map(({ request, ...counted }) => ({
      ...counted,
      ...(request === undefined ? {} : { path: pathOf(request) }),
    })),
    next: next && pathOf(next),
    sleep: pathOf(sleep),
  };
}

export function pathOf(parameters: RequestParameters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) query.set(name, String(value));
  return `${CATCH_UP}?${query.toString()}`;
}
