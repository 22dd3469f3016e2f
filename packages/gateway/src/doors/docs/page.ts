/** Pages as a row of blocks, written as Markdown or as plain text. */
import type { Link } from '../guide-parts.ts';

export type Block =
  | { readonly heading: string }
  | { readonly text: string }
  /** Sent or typed as it stands. */
  | { readonly code: string; readonly of: 'http' | 'json' | 'url' }
  | { readonly links: readonly Link[] }
  /** Addresses with variable parts, which nobody can follow as they stand. */
  | { readonly templates: readonly Template[] };

export interface Template {
  readonly template: string;
  readonly meaning: string;
}

export interface Page {
  readonly title: string;
  readonly blocks: readonly Block[];
}

export function asMarkdown({ title, blocks }: Page): string {
  const parts = blocks.map((block) => {
    if ('heading' in block) return `## ${block.heading}`;
    if ('text' in block) return block.text;
    if ('code' in block) return fenced(block.code, block.of);
    if ('templates' in block) {
      return block.templates.map((one) => `- \`${one.template}\`: ${one.meaning}`).join('\n');
    }
    return block.links
      .map(({ name, href, meaning }) => `- [${name}](${href}): ${meaning}`)
      .join('\n');
  });
  return `${[`# ${title}`, ...parts].join('\n\n')}\n`;
}

/** A fence longer than any in the text. */
function fenced(code: string, of: string): string {
  const longest = Math.max(2, ...Array.from(code.matchAll(/`+/g), ([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${of}\n${code}\n${fence}`;
}

export function asText({ title, blocks }: Page): string {
  const parts = blocks.map((block) => {
    if ('heading' in block) return `${block.heading}\n${'-'.repeat(block.heading.length)}`;
    if ('text' in block) return block.text;
    if ('code' in block) return block.code.replaceAll(/^(?=.)/gm, '    ');
    if ('templates' in block) {
      return block.templates.map((one) => `${one.template}\n    ${one.meaning}`).join('\n');
    }
    return block.links.map(({ href, meaning }) => `${href}\n    ${meaning}`).join('\n');
  });
  return `${[`${title}\n${'='.repeat(title.length)}`, ...parts].join('\n\n')}\n`;
}
