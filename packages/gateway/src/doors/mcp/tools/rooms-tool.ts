/** The tool `list_rooms`, as `GET /api/rooms` (PROTOCOL.md section 5). */
import type { CallToolResult } from '@modelcontextprotocol/server';

import type { JsonObject } from '../../../json/json-object.ts';
import { roomDocuments } from '../../../operations/rooms.ts';
import { callToolResult } from './results.ts';
import { markPresent, type ToolContext } from './tool-call.ts';

export function listRooms(context: ToolContext, args: JsonObject): Promise<CallToolResult> {
  const { app, locale } = context;
  markPresent(app, args);
  const rooms = roomDocuments(app, locale);
  const lines = rooms.map(({ slug, title, description, entries, latest }) =>
    [`${slug}: ${title}. ${description} (entries: ${entries}`, latest]
      .filter((part) => part !== null)
      .join(', latest: '),
  );
  const summary = lines.map((line) => `${line})`).join('\n');
  return Promise.resolve(
    callToolResult(context, { summary, own: { rooms }, lines: [], untrusted: {} }),
  );
}
