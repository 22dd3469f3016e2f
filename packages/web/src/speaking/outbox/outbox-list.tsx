/** Lists the entries that this device has sent or will send, and says what became of each. */
import { withoutDirectionControls } from '@open-presence/protocol';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { MoreButton } from '../../more-button.tsx';
import { ShareLink } from '../../share-link.tsx';
import { href, useShell, useWords } from '../../shell.ts';
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
  const [items, setItems] = useState<readonly OutboxItem[]>([]);
  useEffect(() => {
    const update = (): void => void outboxItems().then(setItems, () => {});
    void removeOldItems().then(update, () => {});
    return onOutboxChange(update);
  }, []);
  const isWaiting = items.some(({ outcome }) => outcome === undefined);
  return (
    <section class="outbox" aria-label={speaking.outbox.title} aria-live="polite">
      {items.map((item) => (
        <OutboxEntry key={item.key} item={item} />
      ))}
      {isWaiting && <p class="hint">{speaking.outbox.closing}</p>}
    </section>
  );
}

function OutboxEntry({ item }: { readonly item: OutboxItem }): VNode {
  const { kinds } = useShell();
  const { outbox } = useWords().speaking;
  const { attempts, outcome, excerpt, kind, reason } = item;
  const state = outcome?.state ?? (attempts > 0 || !navigator.onLine ? 'waiting' : 'sending');
  return (
    <div class="outbox-item row" data-state={state}>
      <p class="outbox-text">
        <span class="quiet">{kinds[kind].name}</span>{' '}
        {excerpt !== '' && <bdi>{withoutDirectionControls(excerpt)}</bdi>}
      </p>
      <p class="outbox-state">
        {outcome?.state === 'stored' ? outbox.stored(outcome.entry.seq) : outbox[state]}
      </p>
      {outcome?.state === 'refused' && <p dir="auto">{outcome.problem.detail}</p>}
      {state === 'waiting' && reason !== undefined && <p dir="auto">{reason}</p>}
      <Actions item={item} />
    </div>
  );
}

function Actions({ item }: { readonly item: OutboxItem }): VNode | null {
  const shell = useShell();
  const { outbox } = useWords().speaking;
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
      <MoreButton onClick={() => void removeItems(key)}>{outbox.hide}</MoreButton>
    </p>
  ) : (
    <p class="actions row">
      <MoreButton onClick={() => void edit(item, namesIn(shell.kinds[item.kind]))}>
        {outbox.edit}
      </MoreButton>
      <MoreButton onClick={discard}>{outbox.discard}</MoreButton>
    </p>
  );
}

/** How long a stored entry stays in the list, and how often the page is searched for it. */
const TOLD_MS = 20_000;
const LOOK_MS = 250;

/**
 * Marks the entry when the page shows it, and later takes it off the list. Returns a function that stops
 * both.
 */
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

/** Makes a refused entry the draft of its form, unless the form has another draft, and opens the page. */
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
