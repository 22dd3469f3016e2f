import type { VNode } from 'preact';

import type { PlainPage } from '../page-data.ts';
import { useWords } from '../shell.ts';

export function Page({ data }: { readonly data: PlainPage }): VNode {
  const { waking } = useWords();
  return (
    <>
      <h1>{data.title}</h1>
      <p>{data.description}</p>
      <p>{waking.wait}</p>
    </>
  );
}
