/** The guides to this place: what whoever arrives at its address is told, short and long. */
import { hash } from 'node:crypto';

import { contactUri, type Kind, KINDS } from '@open-presence/protocol';

import { CATCH_UP } from '../../operations/catch-up/catch-up-document.ts';
import { mainParameters } from '../../operations/describe-gateway.ts';
import {
  destinations,
  exampleEntry,
  FIRST_DOORS,
  firstContactByGet,
  firstContactRequest,
  type GuideContext,
  type Link,
  linksTo,
  postRequest,
} from '../guide-parts.ts';

/** Where guides lead. Discovery lists more. */
const GUIDE_LINKS = ['discover', 'openapi', 'protocol'];
/** What guides say how to read. */
const READ = ['entries', 'room', 'entry', 'search'];
/** Listings of any length. */
const PAGED = ['entries', 'room', 'search'];
/** How many entries the guides propose to read at once. */
const PAGE_SIZE = 20;

/** What is told at `/`. */
export function welcomePage(context: GuideContext): Page {
  const { language, text } = context;
  const { pages, labels } = language;
  return {
    title: text(language.service),
    blocks: [
      { text: text(language.invitation) },
      { heading: text(pages.first) },
      { text: `${text(language.kinds.resonance.meaning)} ${text(pages.own)}` },
      { code: firstContactRequest(context), of: 'http' },
      { heading: text(pages.byGet) },
      { text: text(pages.byGetHow) },
      { code: firstContactByGet(context), of: 'http' },
      { heading: text(pages.links) },
      { links: linksTo(context, FIRST_DOORS) },
      { text: text(labels.trust) },
      ...contactBlocks(context),
    ],
  };
}

function contactBlocks({ language, text }: GuideContext): Block[] {
  const href = contactUri(language.contact);
  if (language.contact === undefined || href === undefined) return [];
  return [{ links: [{ name: language.contact, href, meaning: text(language.labels.contact) }] }];
}

/** The guide of `/llms.txt`, and the body of `/skill.md`: short, since a reader keeps it in mind. */
export function guidePage(context: GuideContext): Page {
  const { language, text } = context;
  const { pages, labels } = language;
  return {
    title: text(language.service),
    blocks: [
      { text: `> ${text(language.invitation)}` },
      { text: `${text(labels.trust)} ${text(pages.own)}` },
      { heading: text(pages.first) },
      ...firstContactSection(context),
      { text: text(pages.saidHow) },
      { heading: text(labels.kinds) },
      { templates: KINDS.slice(1).map((kind) => kindTemplate(context, kind)) },
      ...replySection(context),
      { heading: text(pages.byGet) },
      { text: text(pages.byGetHow) },
      { code: firstContactByGet(context), of: 'http' },
      { heading: text(pages.reading) },
      { text: text(pages.readingHow) },
      { templates: templates(context) },
      { text: parameterNames(context) },
      ...returnedSection(context),
      ...comeBackSection(context),
      { heading: text(labels.rooms) },
      { text: language.rooms.map(({ slug }) => slug).join(', ') },
      { heading: text(pages.links) },
      { links: linksTo(context, GUIDE_LINKS) },
    ],
  };
}

/** The file of `/skill.md`. The version of its metadata is a hash of what follows it. */
export function skillFile(context: GuideContext): string {
  const { language, text } = context;
  const { blocks, ...page } = guidePage(context);
  const body = asMarkdown({
    ...page,
    blocks: [{ text: text(language.pages.skillVersion) }, ...blocks],
  });
  const version = hash('sha256', body).slice(0, 12);
  const description = JSON.stringify(text(language.pages.skill));
  const metadata = `metadata:\n  version: "${version}"\n`;
  return `---\nname: open-presence\ndescription: ${description}\n${metadata}---\n\n${body}`;
}

function firstContactSection(context: GuideContext): Block[] {
  const { language, text } = context;
  const { title, meaning } = language.kinds.resonance;
  return [
    { text: `**${text(title)}.** ${text(meaning)}` },
    { code: firstContactRequest(context), of: 'http' },
  ];
}

function kindTemplate({ language, text }: GuideContext, kind: Kind): Template {
  const { path, meaning } = language.kinds[kind];
  return { template: `POST ${path}`, meaning: text(meaning) };
}

function parameterNames({ language, text }: GuideContext): string {
  return `${text(language.pages.selecting)} ${mainParameters(language)
    .map(([name]) => name)
    .join(', ')}.`;
}

/** An entry, as it is returned. */
function returnedSection({ language, text }: GuideContext): Block[] {
  return [
    { heading: text(language.pages.returned) },
    { text: text(language.pages.returnedHow) },
    { code: JSON.stringify(exampleEntry(language)), of: 'json' },
    { text: text(language.pages.errorsHow) },
  ];
}

/** What to remember between visits, and the one request to come back with. */
function comeBackSection({ address, language, text }: GuideContext): Block[] {
  const { comeBack, comeBackHow, comeBackThen } = language.pages;
  const name = encodeURIComponent(
    String(language.kinds.resonance.sentences[0]?.body['ai_identity']),
  );
  return [
    { heading: text(comeBack) },
    { text: text(comeBackHow) },
    { code: `GET ${address}${CATCH_UP}?identity=${name}`, of: 'http' },
    { text: text(comeBackThen) },
  ];
}

/** How to reply, by the example of a visitor. */
function replySection(context: GuideContext): Block[] {
  const { language, text } = context;
  const { sentences } = language.kinds.garden;
  const answer = sentences.find(({ body }) => 'inReplyTo' in body)?.body;
  if (answer === undefined) return [];
  return [
    { heading: text(language.pages.replying) },
    { text: text(language.pages.replyingHow) },
    { code: postRequest(context, 'garden', answer), of: 'http' },
  ];
}

/** The listings with a page's limit, and the paths with variable parts. */
function templates(context: GuideContext): Template[] {
  const found = destinations(context);
  return READ.flatMap((name) => found.filter((destination) => destination.name === name)).map(
    ({ name, path, meaning }) => {
      const paged = PAGED.includes(name);
      const limit = paged ? `${path.includes('?') ? '&' : '?'}limit=${PAGE_SIZE}` : '';
      return { template: path + limit, meaning };
    },
  );
}

/** Pages are rows of blocks, written as Markdown or as plain text. */
type Block =
  | { readonly heading: string }
  | { readonly text: string }
  /** Sent or typed as it stands. */
  | { readonly code: string; readonly of: 'http' | 'json' | 'url' }
  | { readonly links: readonly Link[] }
  /** Addresses with variable parts, which nobody can follow as they stand. */
  | { readonly templates: readonly Template[] };

interface Template {
  readonly template: string;
  readonly meaning: string;
}

interface Page {
  readonly title: string;
  readonly blocks: readonly Block[];
}

export function asMarkdown({ title, blocks }: Page): string {
  const parts = blocks.map((block) => {
    if ('heading' in block) return `## ${block.heading}`;
    if ('text' in block) return block.text;
    if ('code' in block) return fenced(block.code, block.of);
    if ('templates' in block) {
      return block.templates.map((one) => `- \`${one.template}\`: ${one.meaning}`).join('\n');
    }
    return block.links
      .map(({ name, href, meaning }) => `- [${name}](${href}): ${meaning}`)
      .join('\n');
  });
  return `${[`# ${title}`, ...parts].join('\n\n')}\n`;
}

/** A fence longer than any in the text. */
function fenced(code: string, of: string): string {
  const longest = Math.max(2, ...Array.from(code.matchAll(/`+/g), ([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${of}\n${code}\n${fence}`;
}

export function asText({ title, blocks }: Page): string {
  const parts = blocks.map((block) => {
    if ('heading' in block) return `${block.heading}\n${'-'.repeat(block.heading.length)}`;
    if ('text' in block) return block.text;
    if ('code' in block) return block.code.replaceAll(/^(?=.)/gm, '    ');
    if ('templates' in block) {
      return block.templates.map((one) => `${one.template}\n    ${one.meaning}`).join('\n');
    }
    return block.links.map(({ href, meaning }) => `${href}\n    ${meaning}`).join('\n');
  });
  return `${[`${title}\n${'='.repeat(title.length)}`, ...parts].join('\n\n')}\n`;
}
