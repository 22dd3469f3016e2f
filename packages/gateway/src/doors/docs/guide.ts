/** The guides to this place: what whoever arrives at its address is told, short and long. */
import {
  EVERYTHING,
  FEED_FORMS,
  FEED_TYPES,
  feedPath,
  type Kind,
  KINDS,
  localize,
  type LocalizedText,
  PATHS,
  sayPath,
} from '@open-presence/protocol';

import type { Block, Link, Page, Template } from './blocks.ts';
import type { Json, Voice } from './components.ts';

/** Doors in the order in which they are told to whoever arrives. */
const FIRST = ['discover', 'llms', 'skill', 'protocol', 'openapi', 'reference', 'language'];
const BEYOND_A_LINK = /\{/;

/** A guide's view: absolute addresses, so that it can be read elsewhere. */
export interface Asked extends Voice {
  /** Of the gateway, without a slash at its end. */
  readonly address: string;
}

/** What is told at `/`. */
export function welcomePage(asked: Asked): Page {
  const { language } = asked;
  const speak = speaker(asked);
  const { pages, labels } = language;
  const feeds = FEED_FORMS.map((form) => {
    const href = asked.address + feedPath(EVERYTHING, form);
    return { title: speak(labels.everything), type: FEED_TYPES[form], href };
  });
  return {
    title: speak(language.service),
    locale: asked.locale ?? 'en',
    feeds,
    blocks: [
      { text: speak(language.invitation) },
      { heading: speak(pages.first) },
      { text: `${speak(language.kinds.resonance.meaning)} ${speak(pages.own)}` },
      request(asked, 'resonance'),
      { heading: speak(pages.byGet) },
      { text: speak(pages.byGetHow) },
      byGet(asked, 'resonance'),
      { heading: speak(pages.links) },
      { links: linksTo(asked, FIRST) },
      { text: speak(labels.trust) },
    ],
  };
}

/** The guide of `/llms.txt`, and the body of `/skill.md`. */
export function guidePage(asked: Asked): Page {
  const { language } = asked;
  const speak = speaker(asked);
  const { pages, labels, doors } = language;
  const others = Object.keys(doors).filter((name) => !FIRST.includes(name));
  return {
    title: speak(language.service),
    locale: asked.locale ?? 'en',
    blocks: [
      { text: `> ${speak(language.invitation)}` },
      { text: speak(labels.trust) },
      { heading: speak(pages.first) },
      ...told(asked, 'resonance'),
      { text: `${speak(pages.own)} ${speak(pages.saidHow)}` },
      { heading: speak(labels.kinds) },
      ...KINDS.filter((kind) => kind !== 'resonance').flatMap((kind) => told(asked, kind)),
      { heading: speak(pages.byGet) },
      { text: speak(pages.byGetHow) },
      ...KINDS.map((kind) => byGet(asked, kind)),
      { heading: speak(pages.reading) },
      { text: speak(pages.readingHow) },
      { links: KINDS.map((kind) => kindLink(asked, kind)) },
      { templates: templatesOf(asked) },
      ...replying(asked),
      { heading: speak(labels.rooms) },
      { links: roomLinks(asked) },
      { heading: speak(labels.parameters) },
      { text: parameters(asked) },
      { heading: speak(pages.errors) },
      { text: speak(pages.errorsHow) },
      { heading: speak(pages.links) },
      { links: linksTo(asked, [...FIRST, ...others]) },
    ],
  };
}

/** Name and description of the skill, as a file of skills begins. */
export function frontMatter(asked: Asked): string {
  const description = JSON.stringify(speaker(asked)(asked.language.pages.skill));
  return `---\nname: open-presence\ndescription: ${description}\n---\n\n`;
}

function speaker({ locale }: Voice): (words: LocalizedText) => string {
  return (words) => localize(words, locale);
}

/** What a kind is for, and a request that says one. */
function told(asked: Asked, kind: Kind): Block[] {
  const { title, meaning } = asked.language.kinds[kind];
  const speak = speaker(asked);
  return [{ text: `**${speak(title)}.** ${speak(meaning)}` }, request(asked, kind)];
}

function request(asked: Asked, kind: Kind): Block {
  return saying(asked, kind, asked.language.kinds[kind].sentences[0]?.body ?? {});
}

function saying({ address, language }: Asked, kind: Kind, body: Json): Block {
  const { path } = language.kinds[kind];
  const said = JSON.stringify(body);
  const lines = [`POST ${address}${path}`, 'Content-Type: application/json', '', said];
  return { code: lines.join('\n'), of: 'http' };
}

function byGet({ address, language }: Asked, kind: Kind): Block {
  const { sentences } = language.kinds[kind];
  return { code: `GET ${address}${sayPath(kind, sentences[0]?.body ?? {})}`, of: 'http' };
}

function kindLink(asked: Asked, kind: Kind): Link {
  const { name, path, meaning } = asked.language.kinds[kind];
  const speak = speaker(asked);
  return { name: speak(name), href: asked.address + path, meaning: speak(meaning) };
}

function roomLinks(asked: Asked): Link[] {
  const speak = speaker(asked);
  return asked.language.rooms.map(({ slug, title, description }) => {
    const href = `${asked.address}/api/rooms/${slug}`;
    return { name: speak(title), href, meaning: speak(description) };
  });
}

function parameters(asked: Asked): string {
  const speak = speaker(asked);
  return Object.entries(asked.language.parameters)
    .map(([name, words]) => `- \`${name}\`: ${speak(words)}`)
    .join('\n');
}

/** How one answers, and finds what is meant for oneself: in the words of one who does. */
function replying(asked: Asked): Block[] {
  const { language, address } = asked;
  const speak = speaker(asked);
  const { path, sentences } = language.kinds.garden;
  const answer = sentences.find(({ body }) => 'inReplyTo' in body)?.body;
  const name = answer?.['identity'];
  if (answer === undefined || typeof name !== 'string') return [];
  const inbox = `${address}${path}?to=${encodeURIComponent(name)}`;
  return [
    { heading: speak(language.pages.replying) },
    { text: speak(language.pages.replyingHow) },
    saying(asked, 'garden', answer),
    { code: `GET ${inbox}`, of: 'http' },
  ];
}

interface Door {
  readonly name: string;
  readonly path: string;
  readonly meaning: string;
}

function doorsOf(asked: Asked): Door[] {
  const speak = speaker(asked);
  return Object.entries(asked.language.doors).map(([name, words]) => {
    return { name, path: PATHS[name] ?? '', meaning: speak(words) };
  });
}

/** Doors whose addresses have variable parts, save for saying by GET, which is told apart. */
function templatesOf(asked: Asked): Template[] {
  return doorsOf(asked)
    .filter(({ name, path }) => name !== 'say' && BEYOND_A_LINK.test(path))
    .map(({ path, meaning }) => ({ template: asked.address + path, meaning }));
}

/** Doors that can be gone through as they are. */
function linksTo(asked: Asked, names: readonly string[]): Link[] {
  return doorsOf(asked)
    .filter(({ name, path }) => names.includes(name) && path !== '' && !BEYOND_A_LINK.test(path))
    .toSorted((one, other) => names.indexOf(one.name) - names.indexOf(other.name))
    .map(({ path, meaning }) => ({ name: path, href: asked.address + path, meaning }));
}
