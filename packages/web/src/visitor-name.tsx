/**
 * A visitor's words within those of a page: isolated, so that they cannot change the direction of the text
 * around them.
 */
import { visitorPagePath, withoutDirectionControls } from '@open-presence/protocol';
import type { VNode } from 'preact';

import { href, useShell } from './shell.ts';

export function VisitorName({ name }: { readonly name: string }): VNode {
  const text = visibleName(name);
  return (
    <bdi class="visitor-name" title={text}>
      {text}
    </bdi>
  );
}

const VISIBLE = /[^\s\u2800\p{Default_Ignorable_Code_Point}]/u;

/** A name that nobody can see is given by its characters, so that one can find it, and tell it from others. */
export function visibleName(name: string): string {
  const text = withoutDirectionControls(name);
  if (VISIBLE.test(text)) return text;
  return Array.from(name, (one) => `U+${hexOf(one)}`).join(' ');
}

function hexOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}

/** Pages get only the first characters of a longer name. */
const MAX_NAME_LENGTH = 200;

/** Whether the page has the name in full. An empty name names nobody. */
export function isWholeName(name: string | undefined): name is string {
  return name !== undefined && name !== '' && name.length < MAX_NAME_LENGTH;
}

interface VisitorLinkProps {
  readonly name: string;
  /** The id of an entry under this name. It leads to the name's page if the name is not here in full. */
  readonly entry?: string;
}

/** The name, as a link to its page. */
export function VisitorLink({ name, entry }: VisitorLinkProps): VNode {
  const shell = useShell();
  const isWhole = isWholeName(name);
  if (!isWhole && entry === undefined) return <VisitorName name={name} />;
  const path = isWhole ? visitorPagePath(name) : `/visitors?by=${entry}`;
  return (
    <a class="visitor-link" href={href(shell, path)}>
      <VisitorName name={name} />
    </a>
  );
}

export function Isolated({ text }: { readonly text: string }): VNode {
  return <bdi>{withoutDirectionControls(text)}</bdi>;
}
