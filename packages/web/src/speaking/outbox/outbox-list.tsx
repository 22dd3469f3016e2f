/** Says where each entry stands that this device has sent, or is about to send. */
import { withoutDirectionControls } from '@open-presence/protocol';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { href, useShell, useWords } from '../../shell.ts';
import { ShareLink } from '../../share-link.tsx';
import { readDraft, storeDraft } from './drafts.ts';
import { contentOf } from '../form/form-content.ts';
import { namesIn } from '../form/speak-form-props.ts';
import {
  onOutboxChange,
  outboxItems,
  removeItems,
  removeOldItems,
  type OutboxItem,
} from './outbox.ts';

export function OutboxList(): VNode {
  const { speaking } = useWords();
  const { items, sending } = useOutbox();
  const isWaiting = items.some(({ outcome }) => outcome === undefined);
  return (
    <section class="outbox" aria-label={speaking.outbox.title} aria-live="polite">
      {items.map((item) => (
        <OutboxEntry key={item.key} item={item} isSending={item.key === sending} />
      ))}
      {isWaiting && <p class="hint">{speaking.outbox.closing}</p>}
    </section>
  );
}

interface Outbox {
  readonly items: readonly OutboxItem[];
  /** The key of the item that is being sent. */
  readonly sending: string | undefined;
}

function useOutbox(): Outbox {
  const [items, setItems] = useState<readonly OutboxItem[]>([]);
  const [sending, setSending] = useState<string>();
  useEffect(() => {
    const update = async (): Promise<void> => setItems(await outboxItems());
    const ignore = (): void => {};
    void removeOldItems().then(update).catch(ignore);
    return onOutboxChange((message) => {
      setSending(message.sending);
      void update().catch(ignore);
    });
  }, []);
  return { items, sending };
}

interface OutboxEntryProps {
  readonly item: OutboxItem;
  readonly isSending: boolean;
}

function OutboxEntry({ item, isSending }: OutboxEntryProps): VNode {
  const { kinds } = useShell();
  const { outcome, excerpt, kind } = item;
  const state = outcome?.state ?? (isSending ? 'sending' : 'waiting');
  return (
    <div class="outbox-item row" data-state={state}>
      <p class="outbox-text">
        <span class="quiet">{kinds[kind].name}</span>{' '}
        {excerpt !== '' && <bdi>{withoutDirectionControls(excerpt)}</bdi>}
      </p>
      <p class="outbox-state">
        <StateText item={item} isSending={isSending} />
      </p>
      {outcome?.state === 'refused' && <p dir="auto">{outcome.problem.detail}</p>}
      <Actions item={item} />
    </div>
  );
}

function StateText({ item, isSending }: OutboxEntryProps): VNode {
  const { speaking } = useWords();
  const { outbox } = speaking;
  const { outcome, attempts } = item;
  if (outcome?.state === 'stored') return <>{outbox.stored(outcome.entry.seq)}</>;
  if (outcome?.state === 'refused') return <>{outbox.refused}</>;
  if (isSending) return <>{outbox.sending}</>;
  return <>{attempts > 0 || !navigator.onLine ? outbox.waiting : outbox.queued}</>;
}

function Actions({ item }: { readonly item: OutboxItem }): VNode | null {
  const shell = useShell();
  const { speaking } = useWords();
  const { outbox } = speaking;
  const { key, outcome } = item;
  const seq = outcome?.state === 'stored' ? outcome.entry.seq : undefined;
  useEffect(() => (seq === undefined ? undefined : showStored(seq, key)), [seq]);
  if (outcome === undefined) return null;
  const discard = (): void => {
    if (confirm(outbox.discardQuestion)) void removeItems(key);
  };
  return outcome.state === 'stored' ? (
    <p class="actions row">
      <a href={href(shell, `/entries/${outcome.entry.id}`)}>{outbox.open}</a>
      <ShareLink path={`/entries/${outcome.entry.id}`} />
      <button type="button" class="more" onClick={() => void removeItems(key)}>
        {outbox.hide}
      </button>
    </p>
  ) : (
    <p class="actions row">
      <button
        type="button"
        class="more"
        onClick={() => void edit(item, namesIn(shell.kinds[item.kind]))}
      >
        {outbox.edit}
      </button>
      <button type="button" class="more" onClick={discard}>
        {outbox.discard}
      </button>
    </p>
  );
}

/** How long what was stored is told, and how often the entry is looked for on the page. */
const TOLD_MS = 20_000;
const LOOK_MS = 250;

/** Marks the entry where it stands now, once the page has it. Returns how to end that. */
function showStored(seq: number, key: string): () => void {
  const look = setInterval(() => {
    const entry = document.getElementById(`e${seq}`);
    if (entry === null) return;
    entry.classList.add('entry-own');
    entry.scrollIntoView({ block: 'nearest' });
    clearInterval(look);
  }, LOOK_MS);
  const end = setTimeout(() => void removeItems(key).catch(() => {}), TOLD_MS);
  return () => {
    clearInterval(look);
    clearTimeout(end);
  };
}

/** Makes a refused entry the draft of its form, unless that has another draft, and goes there. */
async function edit(
  { key, body, form, page }: OutboxItem,
  names: readonly string[],
): Promise<void> {
  if ((await readDraft(form)) === undefined) {
    await storeDraft(form, await contentOf(body, names));
    await removeItems(key);
  }
  location.hash = '';
  location.assign(page);
}
