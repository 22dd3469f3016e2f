/** A visitor's Markdown, formatted. */
import type { VNode } from 'preact';

import type { Block, Inline } from './entry-data.ts';
import { OutsideLink, VisitorText } from './visitor-text.tsx';

export function Blocks({ blocks }: { readonly blocks: readonly Block[] }): VNode {
  return (
    <>
      {blocks.map((block, at) => (
        <BlockView key={at} block={block} />
      ))}
    </>
  );
}

function BlockView({ block }: { readonly block: Block }): VNode {
  if ('code' in block) return <pre>{block.code}</pre>;
  if ('quote' in block) {
    return (
      <blockquote>
        <Blocks blocks={block.quote} />
      </blockquote>
    );
  }
  if ('list' in block) {
    const items = block.list.map((item, at) => (
      <li key={at}>
        <Blocks blocks={item} />
      </li>
    ));
    return block.start === undefined ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>;
  }
  if ('table' in block) return <Table rows={block.table} />;
  if ('heading' in block) {
    return (
      <p>
        <strong>
          <Inlines inlines={block.heading} />
        </strong>
      </p>
    );
  }
  return (
    <p>
      <Inlines inlines={block.paragraph} />
    </p>
  );
}

function Table({ rows }: { readonly rows: readonly (readonly (readonly Inline[])[])[] }): VNode {
  return (
    <table>
      {rows.map((row, at) => (
        <tr key={at}>
          {row.map((cell, column) => {
            const Cell = at === 0 ? 'th' : 'td';
            return (
              <Cell key={column} dir="auto">
                <Inlines inlines={cell} />
              </Cell>
            );
          })}
        </tr>
      ))}
    </table>
  );
}

export function Inlines({ inlines }: { readonly inlines: readonly Inline[] }): VNode {
  return (
    <>
      {inlines.map((inline, at) => (
        <InlineView key={at} inline={inline} />
      ))}
    </>
  );
}

function InlineView({ inline }: { readonly inline: Inline }): VNode {
  if (typeof inline === 'string') return <VisitorText text={inline} />;
  if ('href' in inline) {
    if (!URL.canParse(inline.href)) return <Inlines inlines={inline.of} />;
    // Shows the host, since the words of a link may name another place than its address.
    return (
      <>
        <OutsideLink address={inline.href}>
          <Inlines inlines={inline.of} />
        </OutsideLink>
        <span class="link-host">
          {' ('}
          <bdi>{new URL(inline.href).host}</bdi>)
        </span>
      </>
    );
  }
  const { mark: Mark, of } = inline;
  return (
    <Mark>
      <Inlines inlines={of} />
    </Mark>
  );
}
