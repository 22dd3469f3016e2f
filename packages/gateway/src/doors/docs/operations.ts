/** The operations of the OpenAPI document, made of the routes and of what their doors provide. */
import {
  type Content,
  type DescribedRoute,
  type JsonObject,
  type Localization,
  type OperationDetails,
} from '../../http/route-description.ts';
import { EVENT_STREAM } from '../../http/routing/door.ts';
import { problems } from '../openapi-parts.ts';
import { parameterOf, pathParameters } from './parameters.ts';

export interface OperationSources {
  readonly localization: Localization;
  readonly contents: Readonly<Record<string, Content>>;
  readonly details: Readonly<Record<string, OperationDetails>>;
}

/** The path items of a route, by their paths. */
export function pathItems(
  sources: OperationSources,
  route: DescribedRoute,
): [string, JsonObject][] {
  const { paths = [route.path] } = route.description;
  return paths.map((path) => {
    const operations = route.methods.map((method) => {
      return [method.toLowerCase(), operation(sources, { ...route, path }, method)] as const;
    });
    return [path, Object.fromEntries(operations)];
  });
}

function operation(
  sources: OperationSources,
  route: DescribedRoute,
  method: 'GET' | 'POST',
): JsonObject {
  const { localization } = sources;
  const { path, description: described } = route;
  const details = sources.details[`${method} ${path}`] ?? {};
  const own: OperationDetails = method === 'GET' ? { ...described, ...details } : details;
  const { language, text } = localization;
  const door = own.door ?? described.door ?? described.id;
  const words = Object.entries(language.doors).find(([name]) => name === door)?.[1];
  const meaning = words === undefined ? path : text(words);
  return {
    operationId: own.id ?? method.toLowerCase() + camelCase(path),
    tags: [own.tag ?? 'doors'],
    summary: own.summary?.(localization) ?? meaning,
    description: own.description?.(localization) ?? meaning,
    parameters: parametersOf(sources, route, own),
    ...(own.requestBody === undefined ? {} : { requestBody: own.requestBody }),
    responses: own.responses ?? responsesOf(sources, route),
  };
}

function camelCase(path: string): string {
  const words = path.split(/[^A-Za-z0-9]+/);
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

function parametersOf(
  { localization }: OperationSources,
  { path, representations }: DescribedRoute,
  { parameters = [], responses, ranges }: OperationDetails,
): JsonObject[] {
  const { language, text } = localization;
  const described = parameters.map((parameter) => parameterOf(localization, parameter));
  if (responses !== undefined) return described;
  const streams = representations.some(({ type, content }) => {
    return type === EVENT_STREAM && content !== undefined;
  });
  const lastEventId = {
    name: 'Last-Event-ID',
    in: 'header',
    description: text(language.pages.lastEvent),
    schema: { type: 'string' },
    example: '0',
  };
  const range = {
    name: 'Range',
    in: 'header',
    description: text(language.pages.range),
    schema: { type: 'string' },
    example: 'bytes=0-99',
  };
  return [
    ...pathParameters(localization, path),
    ...described,
    ...(streams ? [lastEventId] : []),
    ...(ranges === true ? [range] : []),
  ];
}

function responsesOf(
  { localization, contents }: OperationSources,
  { path, representations, description }: DescribedRoute,
): JsonObject {
  const { language, text } = localization;
  const media = representations.flatMap(({ type, content = '' }) => {
    const { type: own = type, schema, example } = contents[content] ?? {};
    if (schema === undefined) return [];
    return [[own, { schema, ...(example === undefined ? {} : { example }) }] as const];
  });
  const content = Object.fromEntries(media);
  const done = { description: text(language.pages.done), content };
  const unavailable = { description: text(language.errors.unavailable), content };
  const { untagged, ranges, reportsUnavailable, errors = [], parameters = [] } = description;
  // Without content: clients made of this document would take each answer for a part.
  const part = { description: text(language.pages.range) };
  const leadsBrowsers = representations.some(({ type, content: sent }) => {
    return type === 'text/html' && sent === undefined;
  });
  const selects = parameters.some((parameter) => parameter !== 'as');
  const reads = selects || path.includes('{');
  return {
    200: done,
    ...(ranges === true ? { 206: part, ...problems([416]) } : {}),
    ...(leadsBrowsers ? { 303: { description: text(language.pages.browsers) } } : {}),
    ...(untagged === true ? {} : { 304: { description: text(language.pages.unchanged) } }),
    ...problems([400, 500, ...errors]),
    ...problems(path.includes('{') ? [404] : []),
    ...problems(selects ? [422] : []),
    ...problems(reads ? [503] : []),
    ...(reportsUnavailable === true ? { 503: unavailable } : {}),
  };
}
