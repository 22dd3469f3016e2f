/** The script of the reference page: has Scalar show the OpenAPI document. */
import scalar from 'virtual:scalar';

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

interface Parameter {
  readonly required?: boolean;
  example?: unknown;
  examples?: object;
}

/** The parts of the OpenAPI document that are changed before Scalar gets it. */
interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { parameters?: Parameter[] }>>>>;
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> };
}

async function showReference(element: HTMLElement): Promise<void> {
  // Scalar's validator would otherwise test whether it may use `eval`.
  Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
  const [response] = await Promise.all([fetch(element.dataset['document'] ?? ''), loadScalar()]);
  const content = (await response.json()) as OpenApiDocument;
  leaveOutOptional(content);
  // What stood here was in the caller's language, the document is in English.
  document.documentElement.lang = 'en';
  // Scalar would take what is there for a page of its own, rendered by a server.
  element.replaceChildren();
  Scalar.createApiReference(element, { content, ...CONFIGURATION });
}

async function loadScalar(): Promise<void> {
  const script = document.createElement('script');
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  script.addEventListener('load', () => resolve());
  script.addEventListener('error', () => reject(new Error(`Cannot load ${scalar}`)));
  script.src = scalar;
  document.head.append(script);
  await promise;
}

/**
 * Example requests have no optional parameter until somebody adds one: together, the examples of filters
 * select nothing.
 */
function leaveOutOptional({ paths, components }: OpenApiDocument): void {
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  const shared = Object.values(components.parameters);
  for (const parameter of [...shared, ...operations.flatMap(({ parameters = [] }) => parameters)]) {
    const { example, required } = parameter;
    if (required === true || example === undefined) continue;
    delete parameter.example;
    parameter.examples = { example: { value: example, 'x-disabled': true } };
  }
}

const reference = document.getElementById('reference');
if (reference !== null) await showReference(reference);
