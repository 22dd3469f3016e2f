/** `presence mcp`: relays MCP between standard input and output and a gateway. */
import { Command, InvalidArgumentError } from 'commander';

import { addGuide } from './command-guide.ts';
import { McpRelay } from './mcp-relay.ts';
import type { ProcessContext } from './process-context.ts';

export function mcpCommand(context: ProcessContext): Command {
  const command = new Command('mcp')
    .description('relay MCP between standard input and output and a gateway')
    .option(
      '--url <address>',
      'address of the gateway',
      parseAddress,
      new URL('http://127.0.0.1:7410'),
    )
    .action(async ({ url }: { readonly url: URL }) => {
      await new McpRelay(url, context).run();
    });
  return addGuide(command, {
    examples: ['presence mcp --url http://127.0.0.1:7410'],
    exitCodes: [0, 1],
  });
}

function parseAddress(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError(
      'It must be the address of a gateway, such as http://127.0.0.1:7410',
    );
  }
  if (!/\/mcp\/?$/.test(url.pathname)) url.pathname = `${url.pathname.replace(/\/$/, '')}/mcp`;
  return url;
}
