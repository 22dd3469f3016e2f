/** The tool `who_is_here`, as `GET /api/presence` (PROTOCOL.md section 13). */
import type { CallToolResult } from '@modelcontextprotocol/server';

import type { JsonObject } from '../../../json/json-object.ts';
import { presencePage } from '../../../operations/who-is-here.ts';
import { callToolResult, MAX_RESULT_SIZE, portableJson } from './results.ts';
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
  return callToolResult(context, {
    summary: more ? text(isLimited ? others : crowd) : '',
    own: { here: here.length, lately: lately.length, head, log: app.log.id, more },
    lines: [
      ...here.map((visitor) => ({ here: visitor })),
      ...lately.map((visitor) => ({ lately: visitor })),
    ].map((one) => portableJson(one)),
  });
}
