// What happened, latest first: deploys, crashes, stuck workers with their stacks, quarantines, alarms.
import { useState } from 'preact/hooks';
import { clock } from '../format.js';
import type { Mark, MarkKind } from '../snapshot.js';
import { Help } from './help.js';

const KINDS: readonly MarkKind[] = ['deploy', 'crash', 'stuck', 'quarantine', 'alarm', 'worker', 'note'];
const SHOWN_MAX = 80;

export function Events({ marks }: { marks: readonly Mark[] }) {
  const [hidden, setHidden] = useState<ReadonlySet<MarkKind>>(new Set(['worker']));
  const turn = (kind: MarkKind) => {
    const now = new Set(hidden);
    if (!now.delete(kind)) now.add(kind);
    setHidden(now);
  };
  const shown = marks
    .filter(({ kind }) => !hidden.has(kind))
    .slice(-SHOWN_MAX)
    .toReversed();
  return (
    <section class="card" aria-labelledby="events">
      <div class="head">
        <h2 id="events">
          Events{' '}
          <Help
            of="events"
            text="Events of the gateway, latest first. Deploys, crashes, stuck workers, quarantines and alarms are also dashed lines in the charts."
          />
        </h2>
        <div class="chips" role="group" aria-label="Kinds of events">
          {KINDS.map((kind) => (
            <button
              type="button"
              key={kind}
              class={`chip ${kind}`}
              aria-pressed={!hidden.has(kind)}
              onClick={() => turn(kind)}
            >
              {kind}
            </button>
          ))}
        </div>
      </div>
      <ol
        class="events scroll tall"
        tabIndex={0}
        aria-label="Events, latest first"
        hidden={shown.length === 0}
      >
        {shown.map((mark) => (
          <li key={`${mark.at_ms}-${mark.id}`} class={mark.level}>
            <time dateTime={new Date(mark.at_ms).toISOString()}>{clock(mark.at_ms)}</time>
            <span class={`chip ${mark.kind}`}>{mark.kind}</span>
            <span>
              {mark.worker !== null && `worker ${mark.worker} `}
              {mark.text}
              {mark.detail !== null && (
                <details>
                  <summary>{mark.kind === 'stuck' ? 'stack' : 'more'}</summary>
                  <pre>{mark.detail}</pre>
                </details>
              )}
            </span>
          </li>
        ))}
      </ol>
      {shown.length === 0 && <p class="empty">Nothing has happened.</p>}
    </section>
  );
}
