/** A page with only a form: of an answer, beneath what it answers. */
import type { VNode } from 'preact';

import { EntryView } from '../entries/entry-view.tsx';
import type { WritePage } from '../page-data.ts';
import { useWords } from '../shell.ts';
import { SpeakForm } from '../speaking/speak-form.tsx';

export function Page({ data }: { readonly data: WritePage }): VNode {
  const { speaking } = useWords();
  const { answered, title, description } = data;
  return (
    <>
      <h1>{answered === undefined ? title : speaking.replyTo}</h1>
      {answered === undefined ? <p>{description}</p> : <EntryView entry={answered} />}
      <SpeakForm {...data} />
    </>
  );
}
