/** Shown in place of any page while the gateway cannot be reached. Opens that page once it can. */
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import type { PlainPage } from '../page-data.ts';
import { pathOf, useShell, useWords } from '../shell.ts';
import { ABOUT } from '../speaking/form/form-content.ts';
import { formId, formsWithDraft, readDraft } from '../speaking/outbox/drafts.ts';
import { VisitorName } from '../visitor-name.tsx';

const INTERVAL_MS = 5000;

export function Page({ data }: { readonly data: PlainPage }): VNode {
  const shell = useShell();
  const { url } = shell;
  const { offline: words } = useWords();
  /** The texts that were begun on the page that cannot be opened. */
  const [drafts, setDrafts] = useState<readonly string[]>([]);
  useEffect(() => {
    readTexts(pathOf(shell)).then(setDrafts, () => {});
    const retry = (): void => void openIfReachable();
    // Makes the header ask for the status again.
    dispatchEvent(new Event('offline'));
    const timer = setInterval(retry, INTERVAL_MS);
    addEventListener('online', retry);
    return () => {
      clearInterval(timer);
      removeEventListener('online', retry);
    };
  }, []);
  return (
    <div class="offline">
      <h1>{data.title}</h1>
      <p>{data.description}</p>
      <p>
        {words.here}{' '}
        <a href={url}>
          <VisitorName name={readable(url)} />
        </a>
      </p>
      {drafts.length > 0 && (
        <section class="offline-drafts">
          <h2>{words.drafts}</h2>
          {drafts.map((text) => (
            <p key={text} class="entry-text" dir="auto">
              {text}
            </p>
          ))}
        </section>
      )}
    </div>
  );
}

async function readTexts(page: string): Promise<string[]> {
  const texts: string[] = [];
  for (const form of await formsWithDraft(page)) {
    const draft = await readDraft(formId(page, form));
    const said = [
      ...(draft?.values.filter(([name]) => !ABOUT.has(name)).map(([, value]) => value) ?? []),
      ...(draft?.rows.map(({ name, value }) => `${name}: ${value}`) ?? []),
    ].filter((text) => text !== '');
    if (said.length > 0) texts.push(said.join('\n'));
  }
  return texts;
}

async function openIfReachable(): Promise<void> {
  try {
    await fetch('/healthz');
  } catch {
    return;
  }
  location.reload();
}

function readable(url: string): string {
  try {
    return decodeURI(url);
  } catch {
    return url;
  }
}
