/** What every operation of the OpenAPI document has, in the words of the language. */
import { localize, PATHS } from '@open-presence/protocol';

import { capital, problem, type Json, type Voice } from './components.ts';
import { pathParameters } from './parameters.ts';

const READ_ERRORS = [400, 500, 503];

export function worded(
  { language, locale }: Voice,
  name: keyof Voice['language']['pages'],
): string {
  return localize(language.pages[name], locale);
}

export function problems(statuses: readonly number[]): Json {
  return Object.fromEntries(statuses.map((status) => [status, problem(status)]));
}

/** What is answered to whoever reads, by media type. */
export function answers(
  voice: Voice,
  content: Json,
  more: readonly number[] = [],
  tagged = true,
): Json {
  const unchanged = tagged ? { 304: { description: worded(voice, 'unchanged') } } : {};
  return {
    200: { description: worded(voice, 'done'), content },
    ...unchanged,
    ...problems([...READ_ERRORS, ...more]),
  };
}

interface Parts {
  readonly id?: string;
  /** The door in whose words it is told, where the path has none of its own. */
  readonly door?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Json[];
  readonly requestBody?: Json;
  readonly responses: Json;
}

/** An operation of a path that has a door, in the door's words. */
export function operation(voice: Voice, path: string, parts: Parts): Json {
  const { language, locale } = voice;
  const { id, description, parameters = [], requestBody, responses } = parts;
  const door = doorAt(path);
  const words = Object.entries(language.doors).find(([name]) => name === (door ?? parts.door))?.[1];
  const meaning = words === undefined ? path : localize(words, locale);
  return {
    operationId: id ?? door ?? `get${idOf(path)}`,
    tags: [tagOf(path)],
    summary: parts.summary ?? meaning,
    description: description ?? meaning,
    parameters: [...pathParameters(voice, path), ...parameters],
    ...(requestBody === undefined ? {} : { requestBody }),
    responses,
  };
}

/** The name of the door at a path: `/` and `/api` are the same one. */
function doorAt(path: string): string | undefined {
  const sought = path === '/' ? '/api' : path;
  return Object.keys(PATHS).find((name) => PATHS[name]?.split('?', 1)[0] === sought);
}

export function idOf(path: string): string {
  return path
    .split(/[^A-Za-z0-9]+/)
    .map(capital)
    .join('');
}

function tagOf(path: string): string {
  if (path === '/api/presence') return 'here';
  if (/^\/api\/(?:rooms|entries|events|search)/.test(path)) return 'rooms';
  return /^\/api\/\w+\./.test(path) ? 'kinds' : 'doors';
}
