/** What a page says to readers without scripts or eyes, such as AI systems. */
import type { VNode } from 'preact';

import type { GuideBlock, RenderOptions } from './page-data.ts';

interface GuideProps extends NonNullable<RenderOptions['guide']> {
  readonly title: string;
}

export function Guide({ title, blocks }: GuideProps): VNode {
  return (
    <details class="guide">
      <summary>{title}</summary>
      {blocks.map((block, index) => (
        <Block key={index} block={block} />
      ))}
    </details>
  );
}

function Block({ block }: { readonly block: GuideBlock }): VNode {
  if ('text' in block) return <p>{block.text}</p>;
  if ('code' in block) {
    return (
      <pre>
        <code>{block.code}</code>
      </pre>
    );
  }
  return (
    <ul>
      {block.links.map(({ href, meaning }) => (
        <li key={href}>
          <a href={href}>{href}</a>: {meaning}
        </li>
      ))}
    </ul>
  );
}
