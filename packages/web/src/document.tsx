/** The HTML document around a page. Rendered on the server only. */
import { FEED_FORMS, FEED_TYPES, SERVICE_LINKS, SHORT_FEED_PATHS } from '@open-presence/protocol';
import type { VNode } from 'preact';

import { App, type PageComponent } from './app.tsx';
import { assetsOf, ICONS } from './assets.ts';
import type { GuideBlock, PageData, RenderOptions } from './page-data.ts';
import { hrefIn, pathOf } from './shell.ts';
import { PAPER } from './web-manifest.ts';
import { wordsIn } from './words/words.ts';

interface DocumentProps extends RenderOptions {
  readonly data: PageData;
  readonly page: PageComponent;
}

export function Document({ data, page, guide }: DocumentProps): VNode {
  const words = wordsIn(data.shell.locale);
  return (
    <html lang={data.shell.locale} data-page={data.page}>
      <Head data={data} />
      <body>
        <App data={data} page={page} words={words} />
        {guide && <Guide {...guide} title={words.layout.forAgents} />}
      </body>
    </html>
  );
}

function Head({ data }: { readonly data: PageData }): VNode {
  const { shell, description, feeds = allEntries(data), unlisted } = data;
  const title = data.title === shell.service ? data.title : `${data.title} · ${shell.service}`;
  const { script, style, fonts } = assetsOf(shell.locale);
  const address = shell.address + pathOf(shell);
  return (
    <head>
      <meta charSet="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>{title}</title>
      <meta name="description" content={description} />
      {unlisted === true && <meta name="robots" content="noindex" />}
      <link rel="stylesheet" href={style} />
      {fonts.map((font) => (
        <link
          key={font}
          rel="preload"
          href={font}
          as="font"
          type="font/woff2"
          crossOrigin="anonymous"
        />
      ))}
      <script type="module" src={script} />
      <link rel="icon" href={ICONS.svg} type="image/svg+xml" />
      <link rel="apple-touch-icon" href={ICONS.apple} />
      <link rel="manifest" href={`/web/manifest.webmanifest?lang=${shell.locale}`} />
      <meta name="theme-color" content={PAPER.light} media="(prefers-color-scheme: light)" />
      <meta name="theme-color" content={PAPER.dark} media="(prefers-color-scheme: dark)" />
      {unlisted !== true && <link rel="canonical" href={address} />}
      {unlisted !== true &&
        (['uk', 'en'] as const).map((locale) => (
          <link key={locale} rel="alternate" hreflang={locale} href={hrefIn(locale, address)} />
        ))}
      {feeds.map((feed) => (
        <link
          key={feed.href}
          rel="alternate"
          type={feed.type}
          href={shell.address + feed.href}
          title={feed.title}
        />
      ))}
      {SERVICE_LINKS.map(({ href, rel, type }) => (
        <link key={href} rel={rel} type={type} href={shell.address + href} />
      ))}
      <meta property="og:type" content="website" />
      <meta property="og:site_name" content={shell.service} />
      <meta property="og:title" content={data.title} />
      <meta property="og:description" content={description} />
      {unlisted !== true && <meta property="og:url" content={address} />}
      <meta property="og:image" content={shell.address + ICONS.large} />
      <meta name="twitter:card" content="summary" />
      <meta property="og:locale" content={shell.locale === 'uk' ? 'uk_UA' : 'en_GB'} />
    </head>
  );
}

/** The feeds of all entries, for a page that has none of its own. */
function allEntries({ shell }: PageData): NonNullable<PageData['feeds']> {
  return FEED_FORMS.map((form) => {
    return { title: shell.service, type: FEED_TYPES[form], href: SHORT_FEED_PATHS[form] };
  });
}

interface GuideProps extends NonNullable<RenderOptions['guide']> {
  readonly title: string;
}

function Guide({ title, blocks }: GuideProps): VNode {
  return (
    <details class="guide">
      <summary>{title}</summary>
      {blocks.map((block, index) => (
        <Block key={index} block={block} />
      ))}
    </details>
  );
}

function Block({ block }: { readonly block: GuideBlock }): VNode {
  if ('text' in block) return <p>{block.text}</p>;
  if ('code' in block) {
    return (
      <pre>
        <code>{block.code}</code>
      </pre>
    );
  }
  return (
    <ul>
      {block.links.map(({ href, meaning }) => (
        <li key={href}>
          <a href={href}>{href}</a>: {meaning}
        </li>
      ))}
    </ul>
  );
}
