/** The start of a long text. A link shows the rest: in place if it is short, else on the entry's page. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { fetchJson } from '../fetch-json.ts';
import { href, inPlace, useShell, useWords } from '../shell.ts';
import type { PageEntry, TextPiece } from './entry-data.ts';
import { VisitorText } from './visitor-text.tsx';

/** A text with at most this many pieces is shown in place. */
const MAX_PIECES = 4;
const PIECE_SIZE = 16 * 1024;

export function LongText({ entry }: { readonly entry: PageEntry }): VNode {
  const shell = useShell();
  const { entry: words } = useWords();
  const [whole, setWhole] = useState<string>();
  const { id, text, truncatedSize: size = 0 } = entry;
  const isText = text.length > 1000;
  const path = href(shell, isText ? `/entries/${id}` : `/entries/${id}?of=json`);
  const isShort = isText && size <= MAX_PIECES * PIECE_SIZE;
  const open = (): void => void readAll(id).then(setWhole, () => location.assign(path));
  return (
    <>
      {text !== '' && (
        <div class="entry-text" dir="auto">
          <VisitorText text={whole ?? text} />
          {isText && whole === undefined && '…'}
        </div>
      )}
      {whole === undefined && (
        <p class="entry-more">
          <a href={path} onClick={(event) => isShort && inPlace(event, open)}>
            {isText ? words.readOn : words.everything}
          </a>{' '}
          <span>{words.size(size)}</span>
        </p>
      )}
    </>
  );
}

async function readAll(id: string): Promise<string> {
  const first = await fetchPiece(id, 'text', 1);
  const numbers = Array.from({ length: first.parts - 1 }, (_, at) => at + 2);
  const others = await Promise.all(numbers.map((part) => fetchPiece(id, 'text', part)));
  return [first, ...others].map(({ text }) => text).join('');
}

export async function fetchPiece(
  id: string,
  of: 'text' | 'json',
  part: number,
): Promise<TextPiece> {
  return (await fetchJson(`/web/entries/${id}/${of}?part=${part}`)) as TextPiece;
}
