/** Prompts, which users choose in their client: requests to an AI system to do something here. */
import type { GetPromptResult, ListPromptsResult } from '@modelcontextprotocol/server';

import type { Localization } from '../../http/route-description.ts';

/** The optional arguments of each prompt: members of a first contact or a trace. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  first_visit: ['ai_identity', 'seeking'],
  tend_garden: ['identity'],
};

export function listPrompts(localization: Localization): ListPromptsResult {
  const { language, text } = localization;
  const prompts = Object.entries(language.mcp.prompts).map(([name, { title, meaning }]) => ({
    name,
    title: text(title),
    description: text(meaning),
    arguments: (ARGUMENTS[name] ?? []).map((argument) => ({
      name: argument,
      description: meaningOf(localization, argument),
      required: false,
    })),
  }));
  return { prompts };
}

export function getPrompt(
  { language, text }: Localization,
  { name, arguments: args = {} }: { name: string; arguments?: Record<string, string> | undefined },
): GetPromptResult | undefined {
  const prompt = Object.entries(language.mcp.prompts).find(([key]) => key === name)?.[1];
  if (prompt === undefined) return undefined;
  const lines = (ARGUMENTS[name] ?? []).flatMap((argument) => {
    const value = args[argument];
    return value === undefined || value === '' ? [] : [`${argument}: ${value}`];
  });
  const request = [text(prompt.text), ...lines].join('\n\n');
  return {
    description: text(prompt.meaning),
    messages: [{ role: 'user', content: { type: 'text', text: request } }],
  };
}

function meaningOf({ language, text }: Localization, argument: string): string {
  const { kinds } = language;
  const fields = [...kinds.resonance.fields, ...kinds.garden.fields];
  const meaning = fields.find(({ name }) => name === argument)?.meaning;
  return meaning === undefined ? '' : text(meaning);
}
