/** The form for a notice that only the operator reads, and the page that says what became of it. */
import type { VNode } from 'preact';

import { Moment } from '../moment.tsx';
import type { NoticePage } from '../page-data.ts';
import { href, useShell, useWords } from '../shell.ts';
import { FormError, LineField, OtherFields, TextField } from '../speaking/fields.tsx';

export function Page({ data }: { readonly data: NoticePage }): VNode {
  return (
    <>
      <h1>{data.title}</h1>
      {data.notice === undefined ? <Form {...data} /> : <State {...data.notice} />}
    </>
  );
}

const NAMES = ['contact', 'what', 'why'] as const;

type Name = (typeof NAMES)[number];

function Form({ about = '', problem, typed, description }: NoticePage): VNode {
  const shell = useShell();
  const { notice: words } = useWords();
  const page = new URLSearchParams({ page: href(shell, '/notice/{number}') });
  const propsOf = (name: Name, value = '') => ({
    id: `notice-${name}`,
    field: { name, meaning: words[name] },
    values: [typed?.find(([named]) => named === name)?.[1] ?? value],
    error: problem?.faults?.find(({ parameter }) => parameter === name)?.detail,
  });
  return (
    <>
      <p>{description}</p>
      <form
        class="speak-form"
        method="post"
        encType="multipart/form-data"
        action={href(shell, `/api/notice?${page.toString()}`)}
      >
        <FormError message={problem?.detail} />
        <LineField {...propsOf('what', about)} />
        <TextField {...propsOf('why')} />
        <LineField {...propsOf('contact')} />
        <OtherFields typed={typed} shown={NAMES} />
        <p class="actions row">
          <button type="submit" class="send">
            {words.send}
          </button>
        </p>
      </form>
    </>
  );
}

function State({ number, received, closed, reason }: NonNullable<NoticePage['notice']>): VNode {
  const { notice: words } = useWords();
  return (
    <>
      <p>
        {words.number} <code>{number}</code>
      </p>
      <p>
        {words.received} <Moment timestamp={received} />
      </p>
      {closed === undefined ? (
        <p role="status">{words.open}</p>
      ) : (
        <p>
          {words.closed} <Moment timestamp={closed} />: <bdi>{reason}</bdi>
        </p>
      )}
      <p class="quiet">{words.keep}</p>
    </>
  );
}
