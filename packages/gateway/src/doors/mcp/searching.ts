/** The tool that searches, as `GET /api/search` does (PROTOCOL.md section 14). */
import type { CallToolResult } from '@modelcontextprotocol/server';

import {
  matchesOf,
  nextResultsPath,
  searchRequest,
  snippetOf,
  takeRanking,
} from '../../operations/search.ts';
import { argumentsOf, NO_OTHERS, parametersOf } from './tool-call.ts';
import { among, arrived } from './listing-tools.ts';
import {
  howToGoOn,
  howToRead,
  resultOf,
  shortenedIn,
  toldOf,
  type Fields,
  type Told,
  MAX_RESULT_SIZE,
} from './results.ts';
import { SEARCH_PARAMETERS } from './schemas.ts';
import type { ToolContext } from './tool-context.ts';

interface Found extends Told {
  readonly snippet: string;
}

export async function search(context: ToolContext, given: Fields): Promise<CallToolResult> {
  const { app } = context.call.context;
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
      more = found.length > 0 && size > MAX_RESULT_SIZE;
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
  const wording = { language: app.language, locale: context.locale };
  const on = howToGoOn(wording, { tool: 'search', next, more });
  return resultOf(app.language, context.locale, {
    summary: `results: ${found.length}, known: ${watermark}. ${on}${howToRead(wording, found)}`,
    own: { head, known: watermark, next, shortened: shortenedIn(found) },
    lines: found.map(
      ({ line, snippet }) => `{"entry":${line},"snippet":${JSON.stringify(snippet)}}`,
    ),
    words: { results: found.map(({ value, snippet }) => ({ entry: value, snippet })) },
  });
}
