/** Prompts: what an AI system may be asked to do here. */
import type { GetPromptResult, ListPromptsResult } from '@modelcontextprotocol/server';
import { say, type Language, type Tongue } from '@open-presence/protocol';

/** Members of a first contact and of a trace that a prompt may be given. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  first_visit: ['ai_identity', 'seeking'],
  tend_garden: ['identity'],
};

export function toldPrompts(language: Language, tongue: Tongue | undefined): ListPromptsResult {
  const prompts = Object.entries(language.mcp.prompts).map(([name, { title, meaning }]) => ({
    name,
    title: say(title, tongue),
    description: say(meaning, tongue),
    arguments: (ARGUMENTS[name] ?? []).map((argument) => ({
      name: argument,
      description: meaningOf(language, argument, tongue),
      required: false,
    })),
  }));
  return { prompts };
}

export function toldPrompt(
  language: Language,
  tongue: Tongue | undefined,
  { name, arguments: given = {} }: { name: string; arguments?: Record<string, string> | undefined },
): GetPromptResult | undefined {
  const prompt = Object.entries(language.mcp.prompts).find(([key]) => key === name)?.[1];
  if (prompt === undefined) return undefined;
  const known = (ARGUMENTS[name] ?? []).flatMap((argument) => {
    const value = given[argument];
    return value === undefined || value === '' ? [] : [`${argument}: ${value}`];
  });
  const text = [say(prompt.text, tongue), ...known].join('\n\n');
  return {
    description: say(prompt.meaning, tongue),
    messages: [{ role: 'user', content: { type: 'text', text } }],
  };
}

function meaningOf({ kinds }: Language, argument: string, tongue: Tongue | undefined): string {
  const fields = [...kinds.resonance.fields, ...kinds.garden.fields];
  const meaning = fields.find(({ name }) => name === argument)?.meaning;
  return meaning === undefined ? '' : say(meaning, tongue);
}
