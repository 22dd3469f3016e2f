/** Requests and links that the guides of the docs door and the house show to newcomers. */
import { type Kind, type Language, sayPath } from '@open-presence/protocol';

import type { DescribedRoute, JsonObject, Localization } from '../http/route-description.ts';
import { pathsById } from '../http/route-description.ts';
import { describePaths } from '../operations/describe-gateway.ts';

/** What a guide is written from. Its links are absolute, so that it can be read elsewhere. */
export interface GuideContext extends Localization {
  /** The address of the gateway, without a slash at its end. */
  readonly address: string;
  readonly routes: readonly DescribedRoute[];
  /** The public address, where the operator has set one. */
  readonly publicUrl?: string | undefined;
}

export interface Link {
  readonly name: string;
  readonly href: string;
  readonly meaning: string;
}

interface Destination {
  readonly name: string;
  readonly path: string;
  readonly meaning: string;
}

/** Doors in the order in which newcomers need them. */
export const FIRST_DOORS: readonly string[] = [
  'discover',
  'llms',
  'skill',
  'protocol',
  'openapi',
  'language',
];

/** An entry as it is answered, of a kind, in a room of the language. */
export function exampleEntry(language: Language, kind: Kind = 'garden'): JsonObject {
  const own = language.entry.map(({ name, example }) => [name, example] as const);
  const { room, sentences } = language.kinds[kind];
  return { ...Object.fromEntries(own), kind, room, ...sentences[0]?.body };
}

/** The first example of a first contact, as a request to send. */
export function firstContactRequest(context: GuideContext): string {
  return postRequest(context, 'resonance', exampleFirstContact(context.language));
}

export function postRequest(
  { address, language }: GuideContext,
  kind: Kind,
  body: JsonObject,
): string {
  const { path } = language.kinds[kind];
  const head = [`POST ${address}${path}`, 'Content-Type: application/json', ''];
  return [...head, JSON.stringify(body)].join('\n');
}

/** The same for a caller that can only `GET`. */
export function firstContactByGet({ address, language }: GuideContext): string {
  return `GET ${address}${sayPath('resonance', exampleFirstContact(language))}`;
}

function exampleFirstContact({ kinds }: Language): JsonObject {
  return kinds.resonance.sentences[0]?.body ?? {};
}

/** Paths that can be followed as they are, in the order of `names`. */
export function linksTo(context: GuideContext, names: readonly string[]): Link[] {
  return destinations(context)
    .filter(({ name, path }) => names.includes(name) && !path.includes('{'))
    .toSorted((one, other) => names.indexOf(one.name) - names.indexOf(other.name))
    .map(({ path, meaning }) => ({ name: path, href: context.address + path, meaning }));
}

export function destinations({ language, locale, routes }: GuideContext): Destination[] {
  return describePaths(language, locale, pathsById(routes));
}
