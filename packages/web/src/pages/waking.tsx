import type { VNode } from 'preact';

import type { WakingPage } from '../page-data.ts';
import { useWords } from '../shell.ts';

export function Page({ data }: { readonly data: WakingPage }): VNode {
  const { waking } = useWords();
  return (
    <>
      <h1>{data.title}</h1>
      <p>{data.description}</p>
      <p>{waking.wait}</p>
    </>
  );
}
