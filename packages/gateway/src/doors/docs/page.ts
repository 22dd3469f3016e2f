/** Pages as a row of blocks, written as Markdown, as plain text or as HTML. */
export type Block =
  | { readonly heading: string }
  | { readonly text: string }
  /** Sent or typed as it stands. */
  | { readonly code: string; readonly of: 'http' | 'json' | 'url' }
  | { readonly links: readonly Link[] }
  /** Addresses with variable parts, which nobody can follow as they stand. */
  | { readonly templates: readonly Template[] };

export interface Template {
  readonly template: string;
  readonly meaning: string;
}

export interface Link {
  readonly name: string;
  readonly href: string;
  readonly meaning: string;
}

export interface Page {
  readonly title: string;
  /** `uk` or `en`. */
  readonly locale: string;
  readonly blocks: readonly Block[];
  /** Feeds that a browser finds by themselves. */
  readonly feeds?: readonly Feed[];
}

interface Feed {
  readonly title: string;
  readonly type: string;
  readonly href: string;
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

export function asHtml({ title, locale, blocks, feeds = [] }: Page): string {
  const parts = blocks.map((block) => {
    if ('heading' in block) return `<h2>${escaped(block.heading)}</h2>`;
    if ('text' in block) return `<p>${escaped(block.text)}</p>`;
    if ('code' in block) return `<pre><code>${escaped(block.code)}</code></pre>`;
    if ('templates' in block) return templatesAsHtml(block.templates);
    const items = block.links.map(({ name, href, meaning }) => {
      return `<li><a href="${escaped(href)}">${escaped(name)}</a>: ${escaped(meaning)}</li>`;
    });
    return `<ul>\n${items.join('\n')}\n</ul>`;
  });
  const links = feeds.map((feed) => {
    const leads = `type="${escaped(feed.type)}" href="${escaped(feed.href)}"`;
    return `<link rel="alternate" ${leads} title="${escaped(feed.title)}">\n`;
  });
  const body = `<h1>${escaped(title)}</h1>\n${parts.join('\n')}`;
  return htmlPage({ title, locale, head: links.join('') }, body);
}

function templatesAsHtml(templates: readonly Template[]): string {
  const items = templates.map(({ template, meaning }) => {
    return `<li><code>${escaped(template)}</code>: ${escaped(meaning)}</li>`;
  });
  return `<ul>\n${items.join('\n')}\n</ul>`;
}

/** A page that loads nothing: what it looks like stands in it. */
function htmlPage(
  { title, locale, head = '' }: { title: string; locale: string; head?: string },
  body: string,
): string {
  return `<!doctype html>
<html lang="${escaped(locale)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
${head}<style>${STYLE}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}

export const STYLE = `:root{color-scheme:light dark;font:1rem/1.6 system-ui,sans-serif;background:#fff;color:#161616}
body{margin:0 auto;max-width:46rem;padding:2rem 1rem}
h1,h2{line-height:1.25}
a{color:#0b43b8}
@media(prefers-color-scheme:dark){:root{background:#121212;color:#eee}a{color:#a9c1ff}}
p,li{overflow-wrap:anywhere}
pre{white-space:pre-wrap;overflow-wrap:anywhere;padding:.75rem;border:1px solid;border-radius:.4rem}
code{font:.9em/1.5 ui-monospace,monospace}`;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (one) => ENTITIES[one] ?? one);
}
