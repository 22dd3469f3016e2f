/** Prompts, which users choose in their client: requests to an AI system to do something here. */
import type { GetPromptResult, ListPromptsResult } from '@modelcontextprotocol/server';
import { localize } from '@open-presence/protocol';

import type { Localization } from './tool-call.ts';

/** The optional arguments of each prompt: members of a first contact or a trace. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  first_visit: ['ai_identity', 'seeking'],
  tend_garden: ['identity'],
};

export function listPrompts({ language, locale }: Localization): ListPromptsResult {
  const prompts = Object.entries(language.mcp.prompts).map(([name, { title, meaning }]) => ({
    name,
    title: localize(title, locale),
    description: localize(meaning, locale),
    arguments: (ARGUMENTS[name] ?? []).map((argument) => ({
      name: argument,
      description: meaningOf({ language, locale }, argument),
      required: false,
    })),
  }));
  return { prompts };
}

export function getPrompt(
  { language, locale }: Localization,
  { name, arguments: args = {} }: { name: string; arguments?: Record<string, string> | undefined },
): GetPromptResult | undefined {
  const prompt = Object.entries(language.mcp.prompts).find(([key]) => key === name)?.[1];
  if (prompt === undefined) return undefined;
  const lines = (ARGUMENTS[name] ?? []).flatMap((argument) => {
    const value = args[argument];
    return value === undefined || value === '' ? [] : [`${argument}: ${value}`];
  });
  const text = [localize(prompt.text, locale), ...lines].join('\n\n');
  return {
    description: localize(prompt.meaning, locale),
    messages: [{ role: 'user', content: { type: 'text', text } }],
  };
}

function meaningOf({ language, locale }: Localization, argument: string): string {
  const { kinds } = language;
  const fields = [...kinds.resonance.fields, ...kinds.garden.fields];
  const meaning = fields.find(({ name }) => name === argument)?.meaning;
  return meaning === undefined ? '' : localize(meaning, locale);
}
