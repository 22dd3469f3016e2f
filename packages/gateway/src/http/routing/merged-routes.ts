/**
 * What all doors serve at each path, as one route. Its handlers refuse the parameters that they would not
 * obey.
 */
import {
  isDisconnected,
  type Handler,
  type RequestContext,
  type StartupContext,
} from '../context.ts';
import {
  type ParameterCheck,
  parameterNotes,
  takenParameters,
  type TakenParameters,
} from '../parameters/parameter-check.ts';
import type { RouteName } from '../request-observer.ts';
import { type Door, EVENT_STREAM, type Representation, type Route } from './door.ts';

type NamedRepresentation<App extends StartupContext> = Representation<App> & {
  readonly name: RouteName;
};

type Mutable<Type> = { -readonly [Name in keyof Type]: Type[Name] };

/** What all doors serve at one path. */
export type MergedRoute<App extends StartupContext> = Mutable<Omit<Route<App>, 'get'>> & {
  readonly representations: NamedRepresentation<App>[];
  /** The name of its `POST`. */
  postName?: RouteName;
};

/** One route for each path, in the order in which the doors list them. */
export function mergeRoutes<App extends StartupContext>(
  doors: Readonly<Record<string, Door<App>>>,
): MergedRoute<App>[] {
  const byPath = new Map<string, MergedRoute<App>>();
  for (const [door, { routes }] of Object.entries(doors)) {
    for (const { path, get, ...others } of routes) {
      const merged: MergedRoute<App> = byPath.get(path) ?? { path, representations: [] };
      byPath.set(path, merged);
      const name = { path, door };
      merged.representations.push(...get.map((one) => ({ ...one, name })));
      Object.assign(merged, others, others.post && { postName: name });
    }
  }
  return [...byPath.values()];
}

export function observed<App extends StartupContext>(
  representation: NamedRepresentation<App>,
  onRead: (context: RequestContext<App>) => Promise<void> | undefined,
): NamedRepresentation<App> {
  const { type, handle } = representation;
  if (type === EVENT_STREAM) return representation;
  return {
    ...representation,
    handle(context) {
      const reading = onRead(context);
      if (reading === undefined) return handle(context);
      return reading.then(() => (isDisconnected(context) ? undefined : handle(context)));
    },
  };
}

/** Makes the handlers of a route refuse the parameters that they would not obey. */
export function checkParameters<App extends StartupContext>(
  route: MergedRoute<App>,
  check: ParameterCheck,
): void {
  const { representations, post, postFromPage, postParameters, description = {} } = route;
  for (const [index, representation] of representations.entries()) {
    const { handle, refused, taken = takenParameters(description, refused) } = representation;
    representations[index] = { ...representation, handle: checked(handle, taken, check) };
  }
  if (post !== undefined) route.post = checked(post, postParameters, check);
  if (postFromPage !== undefined) route.postFromPage = checked(postFromPage, postParameters, check);
}

function checked<App extends StartupContext>(
  handle: Handler<App>,
  parameters: TakenParameters | undefined,
  check: ParameterCheck,
): Handler<App> {
  if (parameters === undefined) return handle;
  return (context) => {
    check.check(context.request, parameters);
    return handleWarned(handle, context);
  };
}

/** In characters. Proxies refuse answers with long headers. */
const MAX_WARNING = 1000;

/** Puts the notes into the header `Warning`, since some answers have no place for them in their bodies. */
function handleWarned<App extends StartupContext>(
  handle: Handler<App>,
  context: RequestContext<App>,
): void | Promise<void> {
  const notes = parameterNotes(context.request);
  if (notes.length > 0) {
    const text = notes
      .join(' ')
      .replaceAll('"', "'")
      .replaceAll(/[^ -~]/g, '?');
    const cut = text.length > MAX_WARNING ? `${text.slice(0, MAX_WARNING)}...` : text;
    context.response.setHeader('Warning', `299 - "${cut.replaceAll('\\', '\\\\')}"`);
  }
  return handle(context);
}
