/** A visitor's Markdown, formatted. A button switches to the text as it was written. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { useWords } from '../shell.ts';
import type { Block, Inline } from './entry-data.ts';
import { OpenLink, VisitorText } from './visitor-text.tsx';

interface FormattedTextProps {
  readonly text: string;
  readonly blocks: readonly Block[];
}

export function FormattedText({ text, blocks }: FormattedTextProps): VNode {
  const { entry: words } = useWords();
  const [isAsWritten, setAsWritten] = useState(false);
  return (
    <>
      <div class={isAsWritten ? 'entry-text' : 'entry-text entry-blocks'} dir="auto">
        {isAsWritten ? <VisitorText text={text} /> : <Blocks blocks={blocks} />}
      </div>
      <button
        type="button"
        class="more needs-script"
        aria-pressed={isAsWritten}
        onClick={() => setAsWritten(!isAsWritten)}
      >
        {words.asWritten}
      </button>
    </>
  );
}

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
    const url = URL.canParse(inline.href) ? new URL(inline.href) : undefined;
    // Shows the host, since the words of a link may name another place than its address.
    return (
      <>
        <Inlines inlines={inline.of} />
        {url !== undefined && (
          <span class="link-host">
            {' ('}
            <bdi>{url.host}</bdi>
            <OpenLink url={url} />)
          </span>
        )}
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
