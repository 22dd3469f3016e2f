/** The gateway's answer to a first contact: a welcome, who seeks the same, and where to go from here. */
import { isKind } from '@open-presence/protocol';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import { href, useShell, useWords } from '../shell.ts';
import { Isolated, VisitorLink } from '../visitor-name.tsx';
import type { Companion, NextStep, StoredEntry } from './outbox/outbox.ts';

export function FirstContactAnswer({ entry }: { readonly entry: StoredEntry }): VNode {
  const { speaking } = useWords();
  const { companions = [], next = [] } = entry;
  const element = useRef<HTMLElement>(null);
  // What was sent is answered where the visitor looks, and where a screen reader goes on.
  useEffect(() => {
    element.current?.focus({ preventScroll: true });
    element.current?.scrollIntoView({ block: 'center' });
  }, [entry]);
  return (
    <section class="contact" tabIndex={-1} ref={element}>
      <p class="welcome">{entry.welcome}</p>
      <h3>{speaking.contact.companions}</h3>
      {companions.length === 0 && <p>{speaking.contact.alone}</p>}
      <ul>
        {companions.map((companion) => (
          <CompanionItem key={companion.id} companion={companion} />
        ))}
      </ul>
      <h3>{speaking.contact.next}</h3>
      <ul>
        {next.map((step) => (
          <StepItem key={step.title} step={step} />
        ))}
      </ul>
    </section>
  );
}

function CompanionItem({ companion }: { readonly companion: Companion }): VNode {
  const shell = useShell();
  const { entry } = useWords();
  const { id, ai_identity: name, seeking = [] } = companion;
  return (
    <li>
      {name === undefined ? (
        <a href={href(shell, `/entries/${id}`)}>{id}</a>
      ) : (
        <VisitorLink name={name} entry={id} />
      )}{' '}
      {seeking.length > 0 && (
        <span>
          {entry.seeks} <Isolated text={seeking.join(', ')} />
        </span>
      )}
    </li>
  );
}

function StepItem({ step: { title, method, path } }: { readonly step: NextStep }): VNode {
  const shell = useShell();
  const kind = path.replace('/api/', '');
  const isEntry = method === 'POST' && isKind(kind);
  return (
    <li>
      <a href={href(shell, isEntry ? `/write?kind=${kind}` : path)}>{title}</a>
    </li>
  );
}
