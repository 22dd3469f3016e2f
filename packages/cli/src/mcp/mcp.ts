/** `presence mcp`: relays MCP between standard input and output and a gateway. */
import { Command } from 'commander';

import { addGuide } from '../command-guide.ts';
import { DEFAULT_URL, urlOption } from '../configuration/gateway-address.ts';
import { McpRelay } from './relay.ts';
import type { ProcessContext } from '../process-context.ts';

export function mcpCommand(context: ProcessContext): Command {
  const command = new Command('mcp')
    .addOption(urlOption())
    .action(async ({ url = DEFAULT_URL }: { readonly url?: string }) => {
      await new McpRelay(endpointOf(url), context).run();
    });
  return addGuide(command, {
    examples: [`presence mcp --url ${DEFAULT_URL}`],
    exitCodes: [0, 1],
    notes: 'A message may have up to 1 MiB.',
  });
}

/** The endpoint at an address, which may be the endpoint's already. */
function endpointOf(address: string): URL {
  const url = new URL(address);
  if (!url.pathname.endsWith('/mcp')) url.pathname = `${url.pathname.replace(/\/$/, '')}/mcp`;
  return url;
}
