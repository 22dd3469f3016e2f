/**
 * How MCP clients are told of the gateway: by links that they have registered for, by commands, or by a
 * file. Each is as the client's own documentation gives it.
 */
import type { CodeExample, NamedLink } from '@open-presence/web/page-data';

import { shellWord } from './code-examples.ts';

/** By which clients list the gateway. */
const NAME = 'open-presence';

export function installLinks(url: string): NamedLink[] {
  const vsCode = encodeURIComponent(JSON.stringify({ name: NAME, type: 'http', url }));
  const config = encodeURIComponent(Buffer.from(JSON.stringify({ url })).toString('base64'));
  const query = `name=${NAME}&config=${config}`;
  return [
    { name: 'VS Code', href: `vscode:mcp/install?${vsCode}` },
    { name: 'Cursor', href: `cursor://anysphere.cursor-deeplink/mcp/install?${query}` },
    { name: 'LM Studio', href: `lmstudio://add_mcp?${query}` },
  ];
}

export function installCommands(url: string): CodeExample[] {
  const address = shellWord(url);
  const servers = { mcpServers: { [NAME]: { type: 'http', url } } };
  return [
    {
      name: 'Claude Code',
      language: 'shell',
      code: `claude mcp add --transport http ${NAME} ${address}`,
    },
    { name: 'Codex', language: 'shell', code: `codex mcp add ${NAME} --url ${address}` },
    {
      name: 'Gemini CLI',
      language: 'shell',
      code: `gemini mcp add --transport http ${NAME} ${address}`,
    },
    { name: 'mcp.json', language: 'json', code: JSON.stringify(servers, null, 2) },
  ];
}
