import type { VNode } from 'preact';

import { Moment } from '../moment.tsx';
import type { PageVisitor } from '../page-data.ts';
import { href, useShell, useWords } from '../shell.ts';
import { Isolated, VisitorName } from '../visitor-name.tsx';

interface WhoIsHereProps {
  readonly here: readonly PageVisitor[];
  readonly lately: readonly PageVisitor[];
}

export function WhoIsHere({ here, lately }: WhoIsHereProps): VNode {
  const { house } = useWords();
  return (
    <section class="here" aria-labelledby="here">
      <h2 id="here">{house.here}</h2>
      {here.length === 0 ? <p>{house.nobodyHere}</p> : <Visitors visitors={here} isHere />}
      {lately.length > 0 && (
        <>
          <h3>{house.lately}</h3>
          <Visitors visitors={lately} />
        </>
      )}
    </section>
  );
}

interface VisitorsProps {
  readonly visitors: readonly PageVisitor[];
  readonly isHere?: boolean;
}

function Visitors({ visitors, isHere = false }: VisitorsProps): VNode {
  const shell = useShell();
  const { house } = useWords();
  return (
    <ul class={isHere ? 'visitors' : 'visitors visitors-lately'}>
      {visitors.map(({ identity, room, seeking, lastSeen }) => {
        const found = shell.rooms.find(({ slug }) => slug === room);
        return (
          <li key={identity}>
            {isHere && <span class="dot" aria-hidden="true" />}
            <b>
              <VisitorName name={identity} />
            </b>
            {seeking.length > 0 && (
              <span class="visitor-seeking">
                {house.seeks} <Isolated text={seeking.join(', ')} />
              </span>
            )}
            <span class="visitor-where">
              {found !== undefined && (
                <a href={href(shell, `/rooms/${found.slug}`)}>{found.title}</a>
              )}
              {!isHere && <Moment timestamp={lastSeen} relative />}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
