import { withoutDirectionControls } from '@open-presence/protocol';

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
