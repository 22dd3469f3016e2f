/**
 * The scripts of the reference page: Scalar, and a few lines that start it. Their paths change with
 * their content, so that browsers need to fetch them only once.
 */
import manifest from '../../../package.json' with { type: 'json' };
import { IMMUTABLE, vary } from '../../http/response/headers.ts';
import { preferredEncoding, type Encoding } from '../../http/negotiation.ts';
import { contentHash, sendEncoded, sendResponse } from '../../http/response/response.ts';
import { postedBy, threadModule } from '../../thread-module.ts';
import type { DoorHandler } from '../context.ts';

const HIDDEN_TARGETS =
  'c clojure csharp dart fsharp go http java julia kotlin node objc ocaml php powershell r ruby rust swift';

/** Loads nothing from elsewhere, sends nothing elsewhere, and uses no proxy. */
const CONFIGURATION = {
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  documentDownloadType: 'none',
  operationTitleSource: 'path',
  // Scalar's own colors are too faint, and its scrolling areas cannot be scrolled by keys.
  customCss: `
    .light-mode { --scalar-color-2: #505050; --scalar-color-3: #616161;
      --scalar-color-blue: #0066a8; --scalar-color-green: #00724a; --scalar-color-orange: #a83c00; }
    .dark-mode { --scalar-color-2: #bdbdbd; --scalar-color-3: #adadad; }
    .endpoints, .response-card-footer { max-height: none !important; overflow: visible !important; }`,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  // All that Scalar has, but curl, fetch and requests.
  hiddenClients: {
    ...Object.fromEntries(HIDDEN_TARGETS.split(' ').map((target) => [target, true])),
    shell: ['httpie', 'wget'],
    js: ['axios', 'jquery', 'ofetch', 'xhr'],
    python: ['python3', 'aiohttp', 'httpx_sync', 'httpx_async'],
  },
};

/**
 * Runs before Scalar, whose validator would otherwise test whether it may use `eval`. Example requests have no
 * optional parameter until somebody adds one: together, the examples of filters select nothing.
 */
const START = Buffer.from(`globalThis.__zod_globalConfig = { jitless: true };

addEventListener('DOMContentLoaded', async () => {
  const element = document.getElementById('reference');
  const content = await (await fetch(element.dataset.document)).json();
  const operations = Object.values(content.paths).flatMap((item) => Object.values(item));
  const shared = Object.values(content.components.parameters);
  for (const parameter of [...shared, ...operations.flatMap(({ parameters }) => parameters ?? [])]) {
    const { example, required } = parameter;
    if (required === true || example === undefined) continue;
    delete parameter.example;
    parameter.examples = { example: { value: example, 'x-disabled': true } };
  }
  // What stood here was in the caller's language, the document is in English.
  document.documentElement.lang = 'en';
  // Scalar would take what is there for a page of its own, rendered by a server.
  element.replaceChildren();
  Scalar.createApiReference(element, { content, ...${JSON.stringify(CONFIGURATION)} });
});
`);

const VERSION = manifest.dependencies['@scalar/fastify-api-reference'];
const TYPE = 'text/javascript; charset=utf-8';
const HEADERS = { ...IMMUTABLE, ...vary() };

const sendStart: DoorHandler = async (context) => {
  const tag = `"${contentHash(START)}"`;
  await sendResponse(context, { status: 200, type: TYPE, headers: HEADERS, body: START, tag });
};

const sendScalar: DoorHandler = async (context) => {
  const encoding = preferredEncoding(context.request.headers['accept-encoding']);
  const response = { status: 200, type: TYPE, headers: HEADERS, tag: `"${VERSION}"` };
  await sendEncoded(context, response, encoding, () => scalar(encoding));
};

/** In the order in which the page loads them. */
export const REFERENCE_SCRIPTS: readonly {
  readonly path: string;
  readonly handle: DoorHandler;
}[] = [
  { path: `/reference/start-${contentHash(START)}.js`, handle: sendStart },
  { path: `/reference/scalar-${VERSION}.js`, handle: sendScalar },
];

/** Scalar in each encoding that was requested. */
const cache = new Map<Encoding | undefined, Promise<Uint8Array>>();

function scalar(encoding: Encoding | undefined): Promise<Uint8Array> {
  const loaded = cache.get(encoding) ?? loadScalar(encoding);
  cache.set(encoding, loaded);
  return loaded;
}

async function loadScalar(encoding: Encoding | undefined): Promise<Uint8Array> {
  try {
    const module = threadModule('./scalar-thread', import.meta.url);
    return (await postedBy(module, encoding)) as Uint8Array;
  } catch (error) {
    cache.delete(encoding);
    throw error;
  }
}
