/** A text of the operator's: about privacy, or the terms of the place. */
import type { VNode } from 'preact';

import { Blocks, Inlines } from '../entries/formatted-text.tsx';
import type { TextPage } from '../page-data.ts';

export function Page({ data }: { readonly data: TextPage }): VNode {
  return (
    <>
      <h1>{data.title}</h1>
      <div class="entry-text entry-blocks" dir="auto">
        {data.blocks.map((block, at) =>
          'heading' in block ? (
            <h2 key={at}>
              <Inlines inlines={block.heading} />
            </h2>
          ) : (
            <Blocks key={at} blocks={[block]} />
          ),
        )}
      </div>
    </>
  );
}
