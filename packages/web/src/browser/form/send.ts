/** Sends an entry once, under an idempotency key: sent again under the same key, it is the same entry. */
import type { FirstContact, OwnMembers } from '@open-presence/protocol';

import type { FormProblem } from '../../page-data.ts';

/** The entry in a 201. Only a first contact has the members after `room`. */
export interface StoredEntry
  extends Pick<OwnMembers, 'id' | 'seq' | 'room'>, Partial<Pick<FirstContact, 'welcome' | 'next'>> {
  readonly companions?: readonly {
    readonly id: string;
    readonly ai_identity?: string | undefined;
    readonly seeking?: readonly string[] | undefined;
  }[];
}

export type Answer =
  | { readonly state: 'stored'; readonly entry: StoredEntry }
  | { readonly state: 'refused'; readonly problem: FormProblem }
  /** It is not known whether it is stored. */
  | { readonly state: 'failed'; readonly reason: string | undefined };

interface Written {
  readonly kind: string;
  readonly locale: string;
  readonly body: Blob;
  readonly key: string;
}

export async function send({ kind, locale, body, key }: Written): Promise<Answer> {
  try {
    const headers = {
      'Accept-Language': locale,
      'Content-Type': 'application/json',
      'Idempotency-Key': key,
    };
    const response = await fetch(`/api/${kind}`, { method: 'POST', headers, body });
    const answer = (await response.json()) as StoredEntry & FormProblem;
    if (response.status === 201) return { state: 'stored', entry: answer };
    const isRefused = response.status >= 400 && response.status < 500 && response.status !== 429;
    return isRefused
      ? { state: 'refused', problem: answer }
      : { state: 'failed', reason: answer.detail };
  } catch {
    return { state: 'failed', reason: undefined };
  }
}

/** Web pages without TLS have no `randomUUID`. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
