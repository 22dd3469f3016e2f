/** Sends what stands in a form: resolves as soon as it is known where it stands. */
import type { Kind } from '@open-presence/protocol';

import type { KindText } from '../../page-data.ts';
import { storeDraft } from './drafts.ts';
import { bodyOf, type FormContent } from '../form/form-content.ts';
import {
  addToOutbox,
  newIdempotencyKey,
  onOutboxChange,
  outboxItems,
  removeItems,
  type OutboxItem,
  type Outcome,
} from './outbox.ts';
import { startSender } from './sender.ts';

const EXCERPT_LENGTH = 80;

export interface Sending {
  readonly kind: Kind;
  readonly kindText: KindText;
  readonly locale: string;
  /** See `formId`. */
  readonly form: string;
  readonly page: string;
  /** Members that the form has of itself. */
  readonly fixed: readonly (readonly [name: string, value: string])[];
}

/** `waiting`: it could not be sent at once, and is sent later by itself. */
export type SendingResult = Outcome | { readonly state: 'waiting' };

/** Throws `InvalidMember`, or what the database throws. A refused entry is a draft again. */
export async function sendContent(content: FormContent, sending: Sending): Promise<SendingResult> {
  const { kind, kindText, locale, form, page, fixed } = sending;
  const values = [...content.values, ...fixed].filter(
    ([name, value]) => name !== 'room' || value !== kindText.room,
  );
  const body = await bodyOf({ ...content, values }, kindText.fields);
  const key = newIdempotencyKey();
  await addToOutbox({
    key,
    kind,
    locale,
    body,
    form,
    page,
    excerpt: excerptOf(content),
    writtenAt: Date.now(),
    attempts: 0,
    notBefore: 0,
  });
  const answered = firstAnswer(key);
  void startSender();
  const result = await answered;
  if (result.state !== 'refused') return result;
  await storeDraft(form, content);
  await removeItems(key);
  return result;
}

function excerptOf({ values, rows, file }: FormContent): string {
  const [, text = ''] = values.find(([name, value]) => name === 'text' && value !== '') ?? [];
  const [, sought = ''] = values.find(([name, value]) => name === 'seeking' && value !== '') ?? [];
  const excerpt = text || sought || file?.name || rows[0]?.name || '';
  if (excerpt.length <= EXCERPT_LENGTH) return excerpt;
  return `${excerpt.slice(0, EXCERPT_LENGTH).toWellFormed()}…`;
}

/** Resolves once the item was answered, or was sent in vain. */
async function firstAnswer(key: string): Promise<SendingResult> {
  const { promise, resolve } = Promise.withResolvers<SendingResult>();
  const look = async (): Promise<void> => {
    const item = (await outboxItems()).find((candidate) => candidate.key === key);
    const result = item === undefined ? undefined : resultOf(item);
    if (result !== undefined) resolve(result);
  };
  const stop = onOutboxChange(() => void look());
  if (!navigator.onLine) resolve({ state: 'waiting' });
  try {
    return await promise;
  } finally {
    stop();
  }
}

function resultOf({ outcome, attempts }: OutboxItem): SendingResult | undefined {
  return outcome ?? (attempts > 0 ? { state: 'waiting' } : undefined);
}
