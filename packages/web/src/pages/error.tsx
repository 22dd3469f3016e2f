import type { VNode } from 'preact';

import type { PlainPage } from '../page-data.ts';
import { href, useShell, useWords } from '../shell.ts';

export function Page({ data }: { readonly data: PlainPage }): VNode {
  const shell = useShell();
  const { layout } = useWords();
  return (
    <>
      <h1>{data.title}</h1>
      <p lang="en" dir="auto">
        {data.description}
      </p>
      <p>
        <a href={href(shell, '/')}>{layout.home}</a>
      </p>
    </>
  );
}
