/** A page with only a form. */
import type { VNode } from 'preact';

import type { WritePage } from '../page-data.ts';
import { href, useShell, useWords } from '../shell.ts';
import { SpeakForm } from '../speaking/form/speak-form.tsx';

export function Page({ data }: { readonly data: WritePage }): VNode {
  const shell = useShell();
  const { speaking } = useWords();
  const { inReplyTo } = data;
  return (
    <>
      <h1>{data.title}</h1>
      {inReplyTo === undefined ? (
        <p>{data.description}</p>
      ) : (
        <p>
          <a href={href(shell, `/entries/${inReplyTo}`)}>{speaking.replyTo}</a>
        </p>
      )}
      <SpeakForm {...data} />
    </>
  );
}
