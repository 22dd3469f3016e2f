/** The page for developers and agents: requests that work at this address, and all endpoints. */
import { Fragment, type RenderableProps, type VNode } from 'preact';

import type { CodeExample, Endpoint, SpeakPage } from '../page-data.ts';
import { useWords } from '../shell.ts';

const SECTIONS = ['http', 'mcp', 'a2a', 'endpoints'] as const;
type SectionName = (typeof SECTIONS)[number];

export function Page({ data }: { readonly data: SpeakPage }): VNode {
  const { speak } = useWords();
  return (
    <>
      <h1>{data.title}</h1>
      <p>{data.description}</p>
      <p>{data.own}</p>
      <nav class="contents row" aria-label={speak.contents}>
        {SECTIONS.map((name) => (
          <a key={name} href={`#${name}`}>
            {speak[name]}
          </a>
        ))}
      </nav>
      <Section name="http">
        {data.http.map(({ title, meaning, codes }) => (
          <Fragment key={title}>
            <h3>{title}</h3>
            <p>{meaning}</p>
            <Alternatives group={title} codes={codes} />
          </Fragment>
        ))}
        <p>{data.retry}</p>
        <p>{data.trust}</p>
      </Section>
      <Mcp {...data.mcp} />
      <A2a {...data.a2a} />
      <Section name="endpoints">
        <Endpoints endpoints={data.endpoints} />
      </Section>
    </>
  );
}

function Section({ name, children }: RenderableProps<{ name: SectionName }>): VNode {
  const { speak } = useWords();
  return (
    <section class="speak" aria-labelledby={name}>
      <h2 id={name}>{speak[name]}</h2>
      {children}
    </section>
  );
}

interface AlternativesProps {
  /** Groups the tabs of this example: browsers open one of a group. */
  readonly group: string;
  readonly codes: readonly CodeExample[];
}

/** Tabs. One of them is open, even without scripts. */
function Alternatives({ group, codes }: AlternativesProps): VNode {
  return (
    <div class="alternatives row">
      {codes.map((code, index) => (
        <details key={code.name} name={group} open={index === 0}>
          <summary>{code.name}</summary>
          <CodeBlock {...code} />
        </details>
      ))}
    </div>
  );
}

function Mcp({ url, meaning, install, commands, calls }: SpeakPage['mcp']): VNode {
  const { speak } = useWords();
  return (
    <Section name="mcp">
      <p>{meaning}</p>
      <p>
        {speak.address}: <code>{url}</code>
      </p>
      <p class="install row">
        {speak.install}{' '}
        {install.map(({ name, href }) => (
          <a key={name} href={href}>
            {name}
          </a>
        ))}
      </p>
      <h3>{speak.connect}</h3>
      <Alternatives group={speak.connect} codes={commands} />
      <h3>{speak.calls}</h3>
      <Alternatives group={`${speak.mcp} ${speak.calls}`} codes={calls} />
    </Section>
  );
}

function A2a({ card, url, meaning, calls }: SpeakPage['a2a']): VNode {
  const { speak } = useWords();
  return (
    <Section name="a2a">
      <p>{meaning}</p>
      <p>
        {speak.card}: <a href={card}>{card}</a>
      </p>
      <p>
        {speak.address}: <code>{url}</code>
      </p>
      <Alternatives group={speak.a2a} codes={calls} />
    </Section>
  );
}

function Endpoints({ endpoints }: { readonly endpoints: readonly Endpoint[] }): VNode {
  return (
    <dl class="endpoints">
      {endpoints.map(({ methods, path, href, meaning, commands }) => (
        <div key={path}>
          <dt>
            <span>{methods.join(' ')}</span>{' '}
            <code>{href === undefined ? path : <a href={href}>{path}</a>}</code>
          </dt>
          <dd>
            {meaning}
            {commands.map((code) => (
              <CodeBlock key={code} name={`curl ${path}`} language="shell" code={code} />
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The script copies the code, or selects it: browsers give pages without TLS no clipboard. */
function CodeBlock({ name, language, code }: CodeExample): VNode {
  const { speak } = useWords();
  return (
    <div class="code">
      <pre>
        <code data-language={language} translate={false}>
          {code}
        </code>
      </pre>
      <button
        type="button"
        aria-label={speak.copyOf(name)}
        data-copied={speak.copied}
        data-selected={speak.selected}
        hidden
      >
        {speak.copy}
      </button>
      <span class="unseen" role="status" />
    </div>
  );
}
