/** The tool that searches, as `GET /api/search` does (PROTOCOL.md section 14). */
import type { CallToolResult } from '@modelcontextprotocol/server';

import {
  matchesOf,
  nextResultsPath,
  searchRequest,
  snippetOf,
  takeRanking,
} from '../../operations/search.ts';
import { PIECE } from './about.ts';
import { argumentsOf, NO_OTHERS, parametersOf } from './parameters.ts';
import { among, arrived } from './reading.ts';
import {
  howToGoOn,
  howToRead,
  resultOf,
  shortenedIn,
  toldOf,
  type Fields,
  type Told,
} from './results.ts';
import { SEARCH_PARAMETERS } from './schemas.ts';
import type { Asking } from './tools.ts';

interface Found extends Told {
  readonly snippet: string;
}

export async function search(asking: Asking, given: Fields): Promise<CallToolResult> {
  const { app } = asking.call.context;
  const parameters = parametersOf(given, 'the results', SEARCH_PARAMETERS);
  const asked = searchRequest(app, parameters, takeRanking(parameters));
  arrived(app, given);
  const { selection, head, watermark } = asked;
  const found: Found[] = [];
  let last: number | undefined;
  let size = 0;
  let more = selection.limit === 0;
  const reading = matchesOf(app.log, asked);
  try {
    while (!more) {
      const step = await reading.next();
      if (step.done === true) {
        ({ more } = step.value);
        break;
      }
      const one = {
        ...toldOf(step.value),
        snippet: await snippetOf(step.value, selection.textQuery),
      };
      size += one.line.length + one.snippet.length;
      more = found.length > 0 && size > PIECE;
      if (more) break;
      found.push(one);
      last = step.value.stamp.seq;
    }
  } finally {
    await reading.return({ last: undefined, more: false });
  }
  const link = nextResultsPath({ ...asked, parameters: NO_OTHERS }, { last, more }, found.length);
  const again = link === null ? null : argumentsOf(asked.parameters, link.split('?')[1] ?? '');
  const next = again === null ? null : { ...again, ...among(given, ['as']) };
  const wording = { language: app.language, locale: asking.locale };
  const on = howToGoOn(wording, { tool: 'search', next, more });
  return resultOf(app.language, asking.locale, {
    summary: `results: ${found.length}, known: ${watermark}. ${on}${howToRead(wording, found)}`,
    own: { head, known: watermark, next, shortened: shortenedIn(found) },
    lines: found.map(
      ({ line, snippet }) => `{"entry":${line},"snippet":${JSON.stringify(snippet)}}`,
    ),
    words: { results: found.map(({ value, snippet }) => ({ entry: value, snippet })) },
  });
}
