/** The tool `list_rooms`, as `GET /api/rooms` (PROTOCOL.md section 5). */
import type { CallToolResult } from '@modelcontextprotocol/server';

import type { JsonObject } from '../../../json/json-object.ts';
import { roomDocuments } from '../../../operations/rooms.ts';
import { callToolResult } from './results.ts';
import { markPresent, type ToolContext } from './tool-call.ts';

export function listRooms(context: ToolContext, args: JsonObject): Promise<CallToolResult> {
  const { app, locale } = context;
  markPresent(app, args);
  const own = { rooms: roomDocuments(app, locale) };
  return Promise.resolve(callToolResult(context, { summary: '', own, lines: [] }));
}
