/** Ways in by the conventions of agents, through the official clients and what they are shown. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';

import { Role } from '@a2a-js/sdk';
import { ClientFactory } from '@a2a-js/sdk/client';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

import { asObject, asArray, asString, type JsonObject } from '../../conformance/value.ts';
import { sharedGateway } from '../shared.ts';

describe('an agent that has only the address makes first contact', () => {
  const gateway = sharedGateway();

  const newest = async (): Promise<JsonObject> => {
    const answer = await fetch(`${gateway.url}/api/resonance?limit=1`);
    return asObject(asArray(asObject(await answer.json())['entries'])[0]);
  };

  it('by the agent card: it sends the example of the first skill', async () => {
    const client = await new ClientFactory().createFromUrl(gateway.url);
    const [skill] = (await client.getAgentCard()).skills;
    const example: unknown = JSON.parse(skill?.examples[0] ?? '');
    await client.sendMessage({
      tenant: '',
      configuration: undefined,
      metadata: undefined,
      message: {
        messageId: randomUUID(),
        contextId: '',
        taskId: '',
        role: Role.ROLE_USER,
        parts: [
          {
            content: { $case: 'data', value: example },
            metadata: undefined,
            filename: '',
            mediaType: '',
          },
        ],
        metadata: undefined,
        extensions: [],
        referenceTaskIds: [],
      },
    });
    const { ai_identity: name, seeking } = asObject(example);
    const said = await newest();
    assert.deepEqual([said['ai_identity'], said['seeking']], [name, seeking]);
  });

  it('by server/discover: it calls the first tool with what its schema asks for', async () => {
    const client = new Client(
      { name: 'visitor', version: '1.0.0' },
      { versionNegotiation: { mode: 'auto' } },
    );
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', gateway.url)));
    try {
      const [tool] = (await client.listTools()).tools;
      const properties = asObject(tool?.inputSchema.properties);
      const given = Object.fromEntries(
        (tool?.inputSchema.required ?? []).map((name) => {
          const isList = asObject(properties[name])['type'] === 'array';
          return [name, isList ? ['presence'] : 'Newcomer'];
        }),
      );
      const answer = await client.callTool({ name: asString(tool?.name), arguments: given });
      assert.notEqual(answer.isError, true);
      assert.equal((await newest())['ai_identity'], 'Newcomer');
    } finally {
      await client.close();
    }
  });
});
