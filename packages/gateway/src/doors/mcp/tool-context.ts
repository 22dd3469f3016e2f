/** The contexts in which MCP requests are answered. */
import type { Locale } from '@open-presence/protocol';

import type { DoorRequest } from '../context.ts';

/** A message, and the HTTP request that it came with. */
export interface McpRequest {
  readonly context: DoorRequest;
  readonly bytes: Buffer;
  /** The parsed bytes. */
  readonly message: unknown;
  /** To be called when the response has started: from then on it needs little memory. */
  readonly release: () => void;
}

/** The context in which a tool is called or a resource is read. */
export interface ToolContext {
  readonly call: McpRequest;
  /** Of the JSON-RPC request. */
  readonly id: string | number;
  /** Aborted when nobody waits for the result any more. */
  readonly signal: AbortSignal;
  readonly locale: Locale | undefined;
}
