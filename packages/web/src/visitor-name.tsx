/**
 * A visitor's words within those of a page: isolated, so that they cannot change the direction of the text
 * around them.
 */
import { visitorPagePath, withoutDirectionControls } from '@open-presence/protocol';
import type { VNode } from 'preact';

import { href, useShell } from './shell.ts';
import { visibleName } from './visible-name.ts';

export { visibleName };

export function VisitorName({ name }: { readonly name: string }): VNode {
  const text = visibleName(name);
  return (
    <bdi class="visitor-name" title={text}>
      {text}
    </bdi>
  );
}

/** Pages get only the first characters of a longer name. */
const MAX_NAME_LENGTH = 200;

/** Whether the page has the name in full. An empty name names nobody. */
export function isWholeName(name: string | undefined): name is string {
  return name !== undefined && name !== '' && name.length < MAX_NAME_LENGTH;
}

interface VisitorLinkProps {
  readonly name: string;
  /** The id of an entry under this name. A name that is not here in full leads there. */
  readonly entry?: string;
}

/** The name, as a link to its page. */
export function VisitorLink({ name, entry }: VisitorLinkProps): VNode {
  const shell = useShell();
  const isWhole = isWholeName(name);
  if (!isWhole && entry === undefined) return <VisitorName name={name} />;
  const path = isWhole ? visitorPagePath(name) : `/entries/${entry}`;
  return (
    <a class="visitor-link" href={href(shell, path)}>
      <VisitorName name={name} />
    </a>
  );
}

export function Isolated({ text }: { readonly text: string }): VNode {
  return <bdi>{withoutDirectionControls(text)}</bdi>;
}
