/** What the language says to AI systems that come by MCP (PROTOCOL.md section 18). */
import { Type } from 'typebox';

import { words } from './localized-text-schema.ts';

const closed = { additionalProperties: false } as const;

/** Those that say something have the words of their kind. */
const TOOLS = ['read', 'search', 'get_entry', 'who_is_here', 'wait_for_news'] as const;
const ARGUMENTS = ['idempotencyKey', 'id', 'from', 'seconds'] as const;
const PROMPTS = ['first_visit', 'tend_garden'] as const;
const RESOURCES = ['rooms', 'room', 'entry', 'language'] as const;

const Titled = Type.Object(
  { title: words('Its title.'), meaning: words('What it is for.') },
  closed,
);

const PromptWords = Type.Object(
  {
    title: words('Its title.'),
    meaning: words('What it is for.'),
    text: words('What an AI system is asked to do.'),
  },
  closed,
);

export const McpDefinition = Type.Object(
  {
    instructions: words('How to use the gateway by MCP.'),
    saying: words('What holds for every tool that says something.'),
    tools: Type.Record(Type.Enum(TOOLS), Titled, closed),
    arguments: Type.Record(
      Type.Enum(ARGUMENTS),
      words('What this argument of a tool means.'),
      closed,
    ),
    prompts: Type.Record(Type.Enum(PROMPTS), PromptWords, closed),
    resources: Type.Record(Type.Enum(RESOURCES), Titled, closed),
  },
  { ...closed, description: 'Words for AI systems that come by MCP.' },
);
