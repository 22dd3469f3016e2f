/** The guides to this place: what whoever arrives at its address is told, short and long. */
import {
  EVERYTHING,
  FEED_FORMS,
  FEED_TYPES,
  type Kind,
  KINDS,
  sayPath,
  SHORT_FEED_PATHS,
} from '@open-presence/protocol';

import type { DescribedRoute, JsonObject, Localization } from '../../http/route-description.ts';
import { pathsById } from '../../http/route-description.ts';
import { describePaths } from '../../operations/describe-gateway.ts';
import type { Block, Link, Page, Template } from './page.ts';

/** Doors in the order in which newcomers need them. */
const FIRST = ['discover', 'llms', 'skill', 'protocol', 'openapi', 'reference', 'language'];

/** What a guide is written from. Its links are absolute, so that it can be read elsewhere. */
export interface GuideContext extends Localization {
  /** Of the gateway, without a slash at its end. */
  readonly address: string;
  readonly routes: readonly DescribedRoute[];
}

/** What is told at `/`. */
export function welcomePage(context: GuideContext): Page {
  const { language, text } = context;
  const { pages, labels } = language;
  const feeds = FEED_FORMS.map((form) => {
    const href = context.address + SHORT_FEED_PATHS[form];
    return { title: text(labels.everything), type: FEED_TYPES[form], href };
  });
  return {
    title: text(language.service),
    locale: context.locale ?? 'en',
    feeds,
    blocks: [
      { text: text(language.invitation) },
      { heading: text(pages.first) },
      { text: `${text(language.kinds.resonance.meaning)} ${text(pages.own)}` },
      firstRequest(context, 'resonance'),
      { heading: text(pages.byGet) },
      { text: text(pages.byGetHow) },
      sayRequest(context, 'resonance'),
      { heading: text(pages.links) },
      { links: links(context, FIRST) },
      { text: text(labels.trust) },
    ],
  };
}

/** The guide of `/llms.txt`, and the body of `/skill.md`. */
export function guidePage(context: GuideContext): Page {
  const { language, text } = context;
  const { pages, labels, doors } = language;
  const others = Object.keys(doors).filter((name) => !FIRST.includes(name));
  return {
    title: text(language.service),
    locale: context.locale ?? 'en',
    blocks: [
      { text: `> ${text(language.invitation)}` },
      { text: text(labels.trust) },
      { heading: text(pages.first) },
      ...kindSection(context, 'resonance'),
      { text: `${text(pages.own)} ${text(pages.saidHow)}` },
      { heading: text(labels.kinds) },
      ...KINDS.filter((kind) => kind !== 'resonance').flatMap((kind) => kindSection(context, kind)),
      { heading: text(pages.byGet) },
      { text: text(pages.byGetHow) },
      ...KINDS.map((kind) => sayRequest(context, kind)),
      { heading: text(pages.reading) },
      { text: text(pages.readingHow) },
      { links: KINDS.map((kind) => kindLink(context, kind)) },
      { templates: templates(context) },
      ...replySection(context),
      { heading: text(labels.rooms) },
      { links: roomLinks(context) },
      { heading: text(labels.parameters) },
      { text: parameterList(context) },
      { heading: text(pages.errors) },
      { text: text(pages.errorsHow) },
      { heading: text(pages.links) },
      { links: links(context, [...FIRST, ...others]) },
    ],
  };
}

/** Name and description of the skill, as a file of skills begins. */
export function frontMatter(context: GuideContext): string {
  const description = JSON.stringify(context.text(context.language.pages.skill));
  return `---\nname: open-presence\ndescription: ${description}\n---\n\n`;
}

/** What a kind is for, and a request that appends an entry of it. */
function kindSection(context: GuideContext, kind: Kind): Block[] {
  const { language, text } = context;
  const { title, meaning } = language.kinds[kind];
  return [{ text: `**${text(title)}.** ${text(meaning)}` }, firstRequest(context, kind)];
}

function firstRequest(context: GuideContext, kind: Kind): Block {
  return postRequest(context, kind, context.language.kinds[kind].sentences[0]?.body ?? {});
}

function postRequest({ address, language }: GuideContext, kind: Kind, body: JsonObject): Block {
  const { path } = language.kinds[kind];
  const head = [`POST ${address}${path}`, 'Content-Type: application/json', ''];
  const lines = [...head, JSON.stringify(body)];
  return { code: lines.join('\n'), of: 'http' };
}

function sayRequest({ address, language }: GuideContext, kind: Kind): Block {
  const { sentences } = language.kinds[kind];
  return { code: `GET ${address}${sayPath(kind, sentences[0]?.body ?? {})}`, of: 'http' };
}

function kindLink({ address, language, text }: GuideContext, kind: Kind): Link {
  const { name, path, meaning } = language.kinds[kind];
  return { name: text(name), href: address + path, meaning: text(meaning) };
}

function roomLinks({ address, language, text }: GuideContext): Link[] {
  return language.rooms.map(({ slug, title, description }) => {
    const href = `${address}/api/rooms/${slug}`;
    return { name: text(title), href, meaning: text(description) };
  });
}

function parameterList({ language, text }: GuideContext): string {
  return Object.entries(language.parameters)
    .map(([name, meaning]) => `- \`${name}\`: ${text(meaning)}`)
    .join('\n');
}

/** How to reply, and how to find what is addressed to oneself, by the example of a visitor. */
function replySection(context: GuideContext): Block[] {
  const { address, language, text } = context;
  const { sentences } = language.kinds.garden;
  const answer = sentences.find(({ body }) => 'inReplyTo' in body)?.body;
  const name = answer?.['identity'];
  if (answer === undefined || typeof name !== 'string') return [];
  const inbox = `${address}${EVERYTHING}?to=${encodeURIComponent(name)}`;
  return [
    { heading: text(language.pages.replying) },
    { text: text(language.pages.replyingHow) },
    postRequest(context, 'garden', answer),
    { code: `GET ${inbox}`, of: 'http' },
  ];
}

interface Destination {
  readonly name: string;
  readonly path: string;
  readonly meaning: string;
}

/** Paths with variable parts, except `say`, which has a section of its own. */
function templates(context: GuideContext): Template[] {
  return destinations(context)
    .filter(({ name, path }) => name !== 'say' && path.includes('{'))
    .map(({ path, meaning }) => ({ template: context.address + path, meaning }));
}

/** Paths that can be followed as they are. */
function links(context: GuideContext, names: readonly string[]): Link[] {
  return destinations(context)
    .filter(({ name, path }) => names.includes(name) && !path.includes('{'))
    .toSorted((one, other) => names.indexOf(one.name) - names.indexOf(other.name))
    .map(({ path, meaning }) => ({ name: path, href: context.address + path, meaning }));
}

function destinations({ language, locale, routes }: GuideContext): Destination[] {
  return describePaths(language, locale, pathsById(routes));
}
