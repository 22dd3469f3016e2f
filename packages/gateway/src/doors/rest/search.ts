/**
 * Finding entries by their words (PROTOCOL.md section 14). What is found is what visitors said, and
 * so are the snippets, which are cut out of it.
 */
import { entryHead, GatewayError } from '@open-presence/protocol';

import { parseSelection, parseSkip } from '../../intake/selection.ts';
import type { Entry, Log, ReadEnd, Selection, Seq } from '../../log/log.ts';
import { StringValueReader, stringValuesIn } from '../../json/string-values.ts';
import { SnippetBuilder } from '../../search/snippet.ts';
import { yieldPeriodically } from '../../fair-turns.ts';
import type { TextQuery } from '../../log/text-query.ts';
import { hasTag } from '../../http/negotiation.ts';
import { COMMON, REVALIDATE, vary } from '../../http/answers.ts';
import { isGone, queryOf, type RequestContext, type AppContext } from '../../http/context.ts';
import { nextPagePath } from '../../operations/next-page.ts';
import { bufferOrStream } from '../../http/buffer-or-stream.ts';
import { waitForListing } from '../../operations/wait.ts';

const PATH = '/api/search';
const SUBJECT = 'what was searched for';
const PLACE = { path: PATH, facets: [], kinds: true, subject: SUBJECT };
/** Of larger entries, results have the own members only. */
const LONGEST_WHOLE = 64 * 1024;
/** Bytes of a large entry that are looked through for its snippet. */
const LONGEST_LOOK = 1024 * 1024;
const BEST = 'best';
const EXAMPLE = `${PATH}?q=garden`;

const HEADERS = { ...REVALIDATE, ...vary() };

/** A search whose parameters were read. */
export interface Asked {
  readonly parameters: URLSearchParams;
  readonly selection: Selection & { readonly textQuery: TextQuery; readonly limit: number };
  /** Undefined where the best come first. */
  readonly skip: number | undefined;
  readonly head: Seq;
  readonly known: Seq;
}

export async function search(context: RequestContext): Promise<void> {
  const { app, request, response } = context;
  const parameters = queryOf(request);
  const ranked = isRanked(parameters);
  if (parameters.has('wait')) await waitForListing(context, PLACE, parameters);
  if (isGone(context)) return;
  const asked = ask(app, parameters, ranked);
  const tag = `W/"${app.log.id.slice(0, 8)}-${asked.head}-${asked.known}-search"`;
  if (hasTag(request.headers['if-none-match'], tag)) {
    response.writeHead(304, { ETag: tag, ...HEADERS, ...COMMON });
    response.end();
    return;
  }
  await bufferOrStream(context, { pieces: documentOf(app.log, asked), headers: HEADERS, tag });
}

/** The same for who asks by other ways than HTTP. Throws for parameters that cannot be used. */
export function searchFor(app: AppContext, parameters: URLSearchParams): Asked {
  const ranked = isRanked(parameters);
  return ask(app, parameters, ranked);
}

/** Whether the best come first; then there is no order among the parameters. */
function isRanked(parameters: URLSearchParams): boolean {
  const ranked = parameters.getAll('order').every((order) => order === BEST);
  if (ranked) parameters.delete('order');
  return ranked;
}

function ask(app: AppContext, parameters: URLSearchParams, ranked: boolean): Asked {
  const known = app.log.searchWatermark();
  const head = app.log.head();
  const { textQuery, ...wanted } = parseSelection(parameters, {
    ...PLACE,
    grammar: app.grammar,
  });
  if (textQuery === undefined) throw nothingSought();
  const { limit = Number.MAX_SAFE_INTEGER } = wanted;
  const before = Math.min(wanted.before ?? Infinity, known + 1);
  return {
    parameters,
    selection: { ...wanted, textQuery, limit, before },
    skip: ranked ? parseSkip(parameters, SUBJECT) : undefined,
    head,
    known,
  };
}

function nothingSought(): GatewayError {
  const detail = `"q" must be what to look for, got nothing. For example: ${EXAMPLE}`;
  return new GatewayError('invalid-parameter', `Cannot search: ${detail}`, {
    faults: [{ parameter: 'q', detail }],
    example: EXAMPLE,
  });
}

async function* documentOf(log: Log, asked: Asked): AsyncGenerator<Buffer, void, undefined> {
  const { selection, head, known } = asked;
  const { textQuery } = selection;
  yield Buffer.from('{"results":[\n');
  const reading = foundIn(log, asked);
  let count = 0;
  try {
    for (;;) {
      const step = await reading.next();
      if (step.done === true) {
        const next = JSON.stringify(linkOf(asked, step.value, count));
        const line = count === 0 ? '' : '\n';
        yield Buffer.from(`${line}],"head":${head},"known":${known},"next":${next}}\n`);
        return;
      }
      yield await resultOf(step.value, textQuery, count === 0 ? '' : ',\n');
      count += 1;
    }
  } finally {
    await reading.return({ last: undefined, more: false });
  }
}

/** What was found, the best or the newest or the oldest first. */
export function foundIn(
  log: Log,
  { selection, skip }: Asked,
): AsyncGenerator<Entry, ReadEnd, undefined> {
  return skip === undefined ? log.readEntries(selection) : log.readRanked({ ...selection, skip });
}

export function linkOf(asked: Asked, end: ReadEnd, count: number): string | null {
  const { parameters, selection, skip, known } = asked;
  if (skip === undefined)
    return nextPagePath({ path: PATH, parameters, selection, head: known }, end);
  if (!end.more) return null;
  const next = new URLSearchParams(parameters);
  next.set('skip', String(skip + count));
  // What is said meanwhile would move the others.
  next.set('before', String(selection.before ?? known + 1));
  return `${PATH}?${next.toString()}`;
}

async function resultOf(entry: Entry, textQuery: TextQuery, joiner: string): Promise<Buffer> {
  const snippet = JSON.stringify(await snippetOf(entry, textQuery));
  const whole = entry.text !== undefined && entry.size <= LONGEST_WHOLE;
  return Buffer.concat([
    Buffer.from(`${joiner}{"entry":`),
    whole ? entry.text : Buffer.from(`${entryHead(entry.stamp)}}`),
    Buffer.from(`,"snippet":${snippet}}`),
  ]);
}

export async function snippetOf(entry: Entry, textQuery: TextQuery): Promise<string> {
  const { text, stamp } = entry;
  const snippet = new SnippetBuilder(textQuery);
  const fair = yieldPeriodically();
  const { length } = Buffer.from(entryHead(stamp));
  if (text !== undefined) {
    for (const value of stringValuesIn(text.subarray(length))) {
      snippet.add(value);
      await fair();
    }
    return snippet.text;
  }
  let value = '';
  const reader = new StringValueReader({
    text: (piece) => void (value += piece),
    end: () => {
      snippet.add(value);
      value = '';
    },
  });
  let looked = 0;
  for await (const piece of entry.chunks()) {
    reader.feed(looked === 0 ? piece.subarray(length) : piece);
    looked += piece.length;
    if (value !== '') snippet.add(value);
    value = '';
    await fair();
    if (looked >= LONGEST_LOOK) break;
  }
  return snippet.text;
}
