/**
 * Entries on their way to the gateway. Each is stored on this device, with its idempotency key, before
 * it is first sent, and stays until the gateway has answered that it is durable.
 */
import type { FirstContact, Kind, OwnMembers } from '@open-presence/protocol';

import type { FormProblem } from '../../page-data.ts';
import { read, write } from './database.ts';
import { draftKey } from './drafts.ts';

/** The gateway's answer to an entry. */
export type Outcome =
  | { readonly state: 'stored'; readonly at: number; readonly entry: StoredEntry }
  | { readonly state: 'refused'; readonly problem: FormProblem };

/** The entry in a 201. Only a first contact has the members after `room`. */
export interface StoredEntry
  extends Pick<OwnMembers, 'id' | 'seq' | 'room'>, Partial<Pick<FirstContact, 'welcome' | 'next'>> {
  readonly companions?: readonly {
    readonly id: string;
    readonly ai_identity?: string | undefined;
    readonly seeking?: readonly string[] | undefined;
  }[];
}

export interface OutboxItem {
  /** The idempotency key. */
  readonly key: string;
  readonly kind: Kind;
  readonly locale: string;
  /** The JSON of the entry. */
  readonly body: Blob;
  /** The form and the page where it was written. */
  readonly form: string;
  readonly page: string;
  /** The start of what was written. */
  readonly excerpt: string;
  readonly writtenAt: number;
  /** How often sending it has failed. */
  readonly attempts: number;
  /** It is not sent before this time, in ms since 1970. */
  readonly notBefore: number;
  readonly outcome?: Outcome;
  /** What the gateway said when it could not take the entry. */
  readonly reason?: string | undefined;
}

const CHANNEL = 'open-presence.outbox';

/** Calls the listener after each change of the outbox, by any page. Returns a function that ends this. */
export function onOutboxChange(listener: () => void): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.addEventListener('message', listener);
  return () => channel.close();
}

/** Reaches listeners on this page, too: a message goes to all other channels of the same name. */
function announce(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(undefined);
  channel.close();
}

/** In the order in which they were written. */
export async function outboxItems(): Promise<OutboxItem[]> {
  const items = await read('outbox', (store) => store.getAll() as IDBRequest<OutboxItem[]>);
  return items.toSorted((a, b) => a.writtenAt - b.writtenAt);
}

export type Written = Pick<OutboxItem, 'kind' | 'locale' | 'body' | 'form' | 'page' | 'excerpt'>;

/** Stores an entry and removes its draft, both or neither. Returns the key of the entry. */
export async function addToOutbox(written: Written): Promise<string> {
  const key = newIdempotencyKey();
  const item = { ...written, key, writtenAt: Date.now(), attempts: 0, notBefore: 0 };
  await write(['outbox', 'drafts'], (transaction) => {
    transaction.objectStore('outbox').add(item);
    transaction.objectStore('drafts').delete(draftKey(item.form));
  });
  announce();
  return key;
}

export async function updateItem(item: OutboxItem): Promise<void> {
  await write(['outbox'], (transaction) => {
    transaction.objectStore('outbox').put(item);
  });
  announce();
}

export async function removeItems(...keys: readonly string[]): Promise<void> {
  await write(['outbox'], (transaction) => {
    for (const key of keys) transaction.objectStore('outbox').delete(key);
  });
  announce();
}

/**
 * Removes the entries that were stored before this page was opened: nobody asks for them any more. Removes
 * all at once, so that the page never shows some of them.
 */
export async function removeOldItems(): Promise<void> {
  const old = (await outboxItems()).filter(
    ({ outcome }) => outcome?.state === 'stored' && outcome.at < performance.timeOrigin,
  );
  if (old.length > 0) await removeItems(...old.map(({ key }) => key));
}

/** Web pages without TLS have no `randomUUID`. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
