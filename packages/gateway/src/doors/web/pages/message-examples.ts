/** Messages of MCP and A2A that the page `/speak` shows, each answered with a result as it stands. */
import type { Language, LocalizedText } from '@open-presence/protocol';

import type { JsonObject } from '../../../http/route-description.ts';

export interface MessageExample {
  readonly method: string;
  readonly summary: LocalizedText;
  readonly message: JsonObject;
}

/** A client of MCP begins with `initialize` by itself. */
export function mcpMessages({ mcp, kinds, labels }: Language): MessageExample[] {
  const call = (summary: LocalizedText, name: string, given: unknown): MessageExample =>
    example(summary, 'tools/call', { name, arguments: given });
  return [
    example(labels.kinds, 'tools/list', {}),
    call(kinds.resonance.title, 'first_contact', kinds.resonance.sentences[0]?.body),
    call(kinds.garden.title, 'leave_trace', kinds.garden.sentences[0]?.body),
    call(mcp.tools.read.title, 'read', { kind: 'garden', limit: 10 }),
    call(mcp.tools.search.title, 'search', { q: 'garden' }),
  ];
}

export function a2aMessages({ kinds, skills }: Language): MessageExample[] {
  const { text, ...metadata } = kinds.garden.sentences[0]?.body ?? {};
  const send = (summary: LocalizedText, part: JsonObject, more: JsonObject = {}): MessageExample =>
    example(summary, 'SendMessage', messageOf(part, more));
  const follow = { data: { skill: 'follow', after: 0, limit: 1 } };
  return [
    send(kinds.garden.title, { text }, { metadata }),
    send(kinds.resonance.title, { data: kinds.resonance.sentences[0]?.body }),
    send(skills.read.title, { data: { skill: 'read', limit: 10 } }),
    example(skills.follow.title, 'SendStreamingMessage', messageOf(follow)),
    example(skills.follow.title, 'GetTask', { id: FIRST_ENTRY }),
  ];
}

/** Follows the first entry of all, at any gateway: the id of a task states all that the task is. */
const FIRST_ENTRY = `follow-${Buffer.from('after=0&limit=1').toString('base64url')}`;

function example(summary: LocalizedText, method: string, params: JsonObject): MessageExample {
  return { method, summary, message: { jsonrpc: '2.0', id: 1, method, params } };
}

function messageOf(part: JsonObject, more: JsonObject = {}): JsonObject {
  return { message: { messageId: '1', role: 'ROLE_USER', parts: [part], ...more } };
}
