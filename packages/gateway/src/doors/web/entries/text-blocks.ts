/**
 * The paragraphs, lists, quotes, tables and code of a text that is written as Markdown. No HTML and no images: they
 * stay text. What is stored is never changed, and pages can show it as it was written.
 */
import type { Block, Inline } from '@open-presence/web/page-data';
import { Lexer, type Token, type Tokens } from 'marked';

/** A text without any of these is shown as it is: its line breaks and spaces may be a poem's. */
const STRUCTURE = [
  /^ {0,3}(?:```|~~~)/m,
  /^ {0,3}(?:[-*+]|\d{1,3}[.)]) \S.*\n(?:.*\n)*? {0,3}(?:[-*+]|\d{1,3}[.)]) \S/m,
  /^ {0,3}> /m,
  /^#{1,6} \S/m,
  /`[^`\n]+`/,
  /\*\*[^*\s][^*\n]*\*\*/,
  /\[[^\]\n]+\]\(https?:[^)\s]+\)/,
  /^ {0,3}\|?.*\|.*\n {0,3}\|?[ \t]*:?-+:?[ \t]*\|/m,
];
/** Looking at a text with more of these takes too long. */
const MARKS = /[*_[\]<>~`!\\]|\d[.)]\s|^[ \t]*[-+]/gm;
const MAX_MARKS = 120;
/** The same for the cells of tables. */
const MAX_CELLS = 1000;
/** What is nested more deeply is shown as text. */
const MAX_DEPTH = 4;

/** Undefined for a text that is shown as it is. */
export function blocksOf(text: string): readonly Block[] | undefined {
  if ((text.match(MARKS)?.length ?? 0) > MAX_MARKS) return undefined;
  if (text.split('|').length > MAX_CELLS) return undefined;
  return STRUCTURE.some((pattern) => pattern.test(text)) ? markdownBlocks(text) : undefined;
}

export function markdownBlocks(text: string): readonly Block[] {
  const tokens = new Lexer({ gfm: true, breaks: true }).lex(text);
  return tokens.flatMap((token) => blockOf(token as Tokens.Generic, 0));
}

function isList(token: Tokens.Generic): token is Tokens.List {
  return token.type === 'list';
}

function isTable(token: Tokens.Generic): token is Tokens.Table {
  return token.type === 'table';
}

/** The words of a text, without the marks of Markdown. */
export function plainText(text: string, blocks = blocksOf(text)): string {
  return blocks === undefined ? text : blocks.map(wordsOf).join('\n');
}

function wordsOf(block: Block): string {
  const textOf = (inlines: readonly Inline[]): string =>
    inlines.map((one) => (typeof one === 'string' ? one : textOf(one.of))).join('');
  if ('code' in block) return block.code;
  if ('quote' in block) return block.quote.map(wordsOf).join('\n');
  if ('list' in block) return block.list.map((item) => item.map(wordsOf).join(' ')).join('\n');
  if ('table' in block) return block.table.map((row) => row.map(textOf).join(' ')).join('\n');
  return textOf('heading' in block ? block.heading : block.paragraph);
}

function blockOf(token: Tokens.Generic, depth: number): Block[] {
  const { type, raw, tokens = [] } = token;
  if (type === 'space' || type === 'def') return [];
  if (type === 'code' && token['codeBlockStyle'] !== 'indented')
    return [{ code: String(token['text']) }];
  if (type === 'heading') return [{ heading: inlinesOf(tokens, depth) }];
  if (type === 'paragraph' || type === 'text')
    return [{ paragraph: tokens.length === 0 ? [raw] : inlinesOf(tokens, depth) }];
  if (depth === MAX_DEPTH) return [{ paragraph: [raw] }];
  const inner = (all: readonly Token[]): Block[] =>
    all.flatMap((one) => blockOf(one as Tokens.Generic, depth + 1));
  if (type === 'blockquote') return [{ quote: inner(tokens) }];
  if (isList(token)) {
    const { items, ordered, start } = token;
    const list = items.map((item) => inner(item.tokens));
    return [{ list, ...(ordered && start !== '' ? { start } : {}) }];
  }
  if (isTable(token)) {
    const rows = [token.header, ...token.rows];
    return [{ table: rows.map((row) => row.map((cell) => inlinesOf(cell.tokens, depth))) }];
  }
  return [{ paragraph: [raw.trimEnd()] }];
}

function inlinesOf(tokens: readonly Token[], depth: number): Inline[] {
  return tokens.flatMap((token) => inlineOf(token as Tokens.Generic, depth));
}

function inlineOf(token: Tokens.Generic, depth: number): Inline[] {
  const { type, raw, tokens = [] } = token;
  if (type === 'br') return ['\n'];
  if (type === 'escape') return [String(token['text'])];
  if (type === 'codespan') return [{ mark: 'code', of: [String(token['text'])] }];
  if (type === 'text' || depth === MAX_DEPTH) return [raw];
  const of = inlinesOf(tokens, depth + 1);
  if (type === 'em' || type === 'strong' || type === 'del') return [{ mark: type, of }];
  const href = String(token['href'] ?? '');
  // An address that stands for itself is found in the text, as in any other.
  if (type === 'link' && /^https?:/i.test(href) && String(token['text']) !== href)
    return [{ href, of }];
  return [raw];
}
