/** The tool `who_is_here`, as `GET /api/presence` (PROTOCOL.md section 13). */
import type { CallToolResult } from '@modelcontextprotocol/server';

import type { JsonObject } from '../../../json/json-object.ts';
import { presentVisitors, recentAuthors } from '../../../operations/who-is-here.ts';
import { callToolResult, MAX_RESULT_SIZE } from './results.ts';
import { markPresent, parametersOf, selectionOf, type ToolContext } from './tool-call.ts';

export async function whoIsHere(context: ToolContext, args: JsonObject): Promise<CallToolResult> {
  const { app, language, text, signal } = context;
  const { room, limit } = args;
  const parameters = parametersOf({ room, limit }, 'presence');
  const { limit: max = Infinity } = selectionOf(app, parameters);
  markPresent(app, args);
  const snapshot = await app.recentAuthors.snapshot();
  // One more than is listed, to know whether there are more.
  const query = { rooms: parameters.getAll('room'), limit: max + 1, signal };
  const here = await listVisitors(presentVisitors(app, query, snapshot), max);
  const lately = await listVisitors(recentAuthors(app, query, snapshot), max);
  const more = here.more || lately.more;
  const hint = more ? ` ${text(language.mcp.results.crowd)}` : '';
  return callToolResult(context, {
    summary: `here: ${here.visitors.length}, lately: ${lately.visitors.length}.${hint}`,
    own: { head: snapshot.head, log: app.log.id, more },
    lines: [...here.visitors, ...lately.visitors].map((visitor) => JSON.stringify(visitor)),
    untrusted: { here: here.visitors, lately: lately.visitors },
  });
}

/** At most `max` of them, and as many as fit half of a result. */
async function listVisitors(
  documents: AsyncIterable<object>,
  max: number,
): Promise<{ visitors: object[]; more: boolean }> {
  const visitors: object[] = [];
  let size = 0;
  for await (const document of documents) {
    size += JSON.stringify(document).length;
    if (visitors.length === max || size > MAX_RESULT_SIZE / 2) return { visitors, more: true };
    visitors.push(document);
  }
  return { visitors, more: false };
}
