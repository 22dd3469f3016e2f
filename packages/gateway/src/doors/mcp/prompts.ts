/** Prompts: what an AI system may be asked to do here. */
import type { GetPromptResult, ListPromptsResult } from '@modelcontextprotocol/server';
import { localize, type Language, type Locale } from '@open-presence/protocol';

/** Members of a first contact and of a trace that a prompt may be given. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  first_visit: ['ai_identity', 'seeking'],
  tend_garden: ['identity'],
};

export function toldPrompts(language: Language, locale: Locale | undefined): ListPromptsResult {
  const prompts = Object.entries(language.mcp.prompts).map(([name, { title, meaning }]) => ({
    name,
    title: localize(title, locale),
    description: localize(meaning, locale),
    arguments: (ARGUMENTS[name] ?? []).map((argument) => ({
      name: argument,
      description: meaningOf(language, argument, locale),
      required: false,
    })),
  }));
  return { prompts };
}

export function toldPrompt(
  language: Language,
  locale: Locale | undefined,
  { name, arguments: given = {} }: { name: string; arguments?: Record<string, string> | undefined },
): GetPromptResult | undefined {
  const prompt = Object.entries(language.mcp.prompts).find(([key]) => key === name)?.[1];
  if (prompt === undefined) return undefined;
  const known = (ARGUMENTS[name] ?? []).flatMap((argument) => {
    const value = given[argument];
    return value === undefined || value === '' ? [] : [`${argument}: ${value}`];
  });
  const text = [localize(prompt.text, locale), ...known].join('\n\n');
  return {
    description: localize(prompt.meaning, locale),
    messages: [{ role: 'user', content: { type: 'text', text } }],
  };
}

function meaningOf({ kinds }: Language, argument: string, locale: Locale | undefined): string {
  const fields = [...kinds.resonance.fields, ...kinds.garden.fields];
  const meaning = fields.find(({ name }) => name === argument)?.meaning;
  return meaning === undefined ? '' : localize(meaning, locale);
}
