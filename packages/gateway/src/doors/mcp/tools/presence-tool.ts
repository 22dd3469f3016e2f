/** The tool `who_is_here`, as `GET /api/presence` (PROTOCOL.md section 13). */
import type { CallToolResult } from '@modelcontextprotocol/server';

import type { JsonObject } from '../../../json/json-object.ts';
import { presencePage } from '../../../operations/who-is-here.ts';
import { callToolResult, MAX_RESULT_SIZE } from './results.ts';
import { markPresent, parametersOf, selectionOf, type ToolContext } from './tool-call.ts';

export async function whoIsHere(context: ToolContext, args: JsonObject): Promise<CallToolResult> {
  const { app, language, text, signal } = context;
  const parameters = parametersOf(args, 'presence', ['room', 'limit']);
  const { limit: max = Infinity } = await selectionOf(app, parameters);
  markPresent(app, args);
  const rooms = parameters.getAll('room');
  const query = { rooms, limit: max, maxSize: MAX_RESULT_SIZE / 2, signal };
  const { head, here, lately, more } = await presencePage(app, query);
  // Otherwise some did not fit.
  const isLimited = [here, lately].some(({ length }) => length === max);
  const { crowd, others } = language.mcp.results;
  const hint = more ? ` ${text(isLimited ? others : crowd)}` : '';
  return callToolResult(context, {
    summary: `here: ${here.length}, lately: ${lately.length}.${hint}`,
    own: { head, log: app.log.id, more },
    lines: [...here, ...lately].map((visitor) => JSON.stringify(visitor)),
    untrusted: { here, lately },
  });
}
