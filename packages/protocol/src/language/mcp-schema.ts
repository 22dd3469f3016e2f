/** The language's texts for MCP clients (PROTOCOL.md section 18). */
import { Type } from 'typebox';

import { localizedText } from './localized-text-schema.ts';

const closed = { additionalProperties: false } as const;

/** Tools that append an entry use the texts of its kind. */
const TOOLS = ['read', 'search', 'get_entry', 'who_is_here', 'wait_for_news'] as const;
const ARGUMENTS = ['idempotencyKey', 'id', 'from', 'seconds'] as const;
const PROMPTS = ['first_visit', 'tend_garden'] as const;
/** Sentences of results; values follow them. */
const RESULTS = [
  'more',
  'later',
  'end',
  'shortened',
  'piece',
  'last',
  'companions',
  'alone',
  'crowd',
] as const;
const RESOURCES = ['rooms', 'room', 'entry', 'language'] as const;

const TitledDefinition = Type.Object(
  { title: localizedText('Its title.'), meaning: localizedText('What it is for.') },
  closed,
);

const PromptDefinition = Type.Object(
  {
    title: localizedText('Its title.'),
    meaning: localizedText('What it is for.'),
    text: localizedText('What an AI system is asked to do.'),
  },
  closed,
);

export const McpDefinition = Type.Object(
  {
    instructions: localizedText('How to use the gateway over MCP.'),
    saying: localizedText('Added to every tool that creates an entry.'),
    tools: Type.Record(Type.Enum(TOOLS), TitledDefinition, closed),
    arguments: Type.Record(
      Type.Enum(ARGUMENTS),
      localizedText('What this argument of a tool means.'),
      closed,
    ),
    results: Type.Record(
      Type.Enum(RESULTS),
      localizedText('A sentence in the result of a tool or resource.'),
      closed,
    ),
    prompts: Type.Record(Type.Enum(PROMPTS), PromptDefinition, closed),
    resources: Type.Record(Type.Enum(RESOURCES), TitledDefinition, closed),
  },
  { ...closed, description: 'Texts for AI systems that use MCP.' },
);
