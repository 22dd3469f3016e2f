/** The language's texts for MCP clients (PROTOCOL.md section 18). */
import { closedObject, closedRecord, localizedText, TITLED } from './schema-parts.ts';

/** The tools with texts of their own. A tool that appends an entry has the texts of its kind. */
const TOOLS = [
  'catch_up',
  'read',
  'search',
  'get_entry',
  'list_rooms',
  'who_is_here',
  'wait_for_news',
] as const;
const ARGUMENTS = [
  'idempotencyKey',
  'furtherMembers',
  'id',
  'from',
  'limit',
  'seconds',
  'identity',
  'filters',
  'as',
  'seen',
] as const;
const PROMPTS = ['first_visit', 'tend_garden'] as const;
/** Sentences in results, each followed by a value. */
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
  'waiting',
] as const;
const EVENTS = ['entry', 'concerns', 'first_contact'] as const;
const RESOURCES = ['rooms', 'room', 'entry', 'language'] as const;

const PromptDefinition = closedObject({
  ...TITLED,
  text: localizedText('What an AI system is asked to do.'),
});

export const McpDefinition = closedObject(
  {
    instructions: localizedText('How to use the gateway over MCP.'),
    saying: localizedText('Added to every tool that creates an entry.'),
    tools: closedRecord(TOOLS, closedObject(TITLED)),
    arguments: closedRecord(ARGUMENTS, localizedText('What this argument of a tool means.')),
    results: closedRecord(
      RESULTS,
      localizedText('A sentence in the result of a tool or resource.'),
    ),
    events: closedRecord(EVENTS, localizedText('When an event of this type happens.')),
    prompts: closedRecord(PROMPTS, PromptDefinition),
    resources: closedRecord(RESOURCES, closedObject(TITLED)),
  },
  { description: 'Texts for AI systems that use MCP.' },
);
