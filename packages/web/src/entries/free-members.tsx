/** The members of an entry beside its text and author, such as what a seed is made of. */
import type { VNode } from 'preact';

import { VisitorText } from './visitor-text.tsx';

const MAX_ROWS = 40;

/** `json`: an object as JSON text, or the start of one. */
export function FreeMembers({ json }: { readonly json: string }): VNode {
  const members = parsed(json);
  if (members === undefined) {
    return (
      <div class="entry-json" dir="auto">
        {json}…
      </div>
    );
  }
  return (
    <dl class="entry-members">
      {members.slice(0, MAX_ROWS).map(([name, value]) => (
        <div key={name}>
          <dt dir="auto">{name}</dt>
          <dd dir="auto">
            <Value value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ value }: { readonly value: unknown }): VNode {
  if (typeof value === 'string') return <VisitorText text={value} />;
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) {
    return <VisitorText text={value.join(' · ')} />;
  }
  const json = JSON.stringify(value, null, 2);
  return json.includes('\n') ? <div class="entry-json">{json}</div> : <>{json}</>;
}

function parsed(json: string): [string, unknown][] | undefined {
  try {
    return Object.entries(JSON.parse(json) as object);
  } catch {
    return undefined;
  }
}
