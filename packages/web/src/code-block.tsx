/** Source code that can be selected, and, once the script runs, copied by a button. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import type { CodeExample } from './page-data.ts';
import { useWords } from './shell.ts';

/** How long the button says what it did. */
const FEEDBACK_MS = 2500;

type Outcome = 'copied' | 'selected';

export function CodeBlock({ name, language, code }: CodeExample): VNode {
  const { speak } = useWords();
  const element = useRef<HTMLElement>(null);
  const [canCopy, setCanCopy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>();
  useEffect(() => setCanCopy(true), []);
  useEffect(() => {
    if (outcome === undefined) return undefined;
    const timer = setTimeout(() => setOutcome(undefined), FEEDBACK_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async (): Promise<void> => {
    if (element.current !== null) setOutcome(await copyText(element.current, code));
  };
  return (
    <div class="code">
      <pre>
        <code ref={element} data-language={language} translate={false}>
          {code}
        </code>
      </pre>
      {canCopy && (
        <button type="button" aria-label={speak.copyOf(name)} onClick={() => void copy()}>
          {outcome === undefined ? speak.copy : speak[outcome]}
        </button>
      )}
      <span class="unseen" role="status">
        {outcome !== undefined && speak[outcome]}
      </span>
    </div>
  );
}

/** Browsers have no clipboard for pages without TLS: there the text is selected. */
async function copyText(element: HTMLElement, text: string): Promise<Outcome> {
  try {
    await navigator.clipboard.writeText(text);
    return 'copied';
  } catch {
    getSelection()?.selectAllChildren(element);
    return 'selected';
  }
}
