// The whole page.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { HeatMap } from './charts/heat.js';
import { type Line, Plot } from './charts/plot.js';
import type { Model, Span } from './feed/model.js';
import type { FlameWish, Store } from './feed/store.js';
import { bytes, clock, count, time, trimmed } from './format.js';
import { Actions, Token } from './parts/actions.js';
import { Calls } from './parts/calls.js';
import { Classes } from './parts/classes.js';
import { Glance } from './parts/deploy.js';
import { Events } from './parts/events.js';
import { Flame } from './parts/flame.js';
import { Graph } from './parts/graph.js';
import { Alarms, Pages, Quarantine, Renders, Tails } from './parts/more.js';
import { Rendering } from './parts/rendering.js';
import { Tiles } from './parts/tiles.js';
import { Workers } from './parts/workers.js';
import type { Point } from './snapshot.js';

const SPAN_NAMES: readonly [Span, string][] = [
  [1, '5 min'],
  [10, '1 h'],
  [60, '12 h'],
];
const PROFILE_S = 5;

export function App({ model, store }: { model: Model; store: Store }) {
  const [theme, setTheme] = useTheme();
  const [isActing, setActing] = useState(false);
  const [told, setTold] = useState('');
  const [flame, setFlame] = useState<FlameWish | null>(null);
  const status = model.frame?.status;

  const act = (action: string, body: object, done: string) => {
    if (!store.hasToken) return setActing(true);
    setTold('…');
    void store.act(action, body).then((refused) => {
      setTold(store.hasToken ? (refused ?? done) : '');
      if (!store.hasToken) setActing(true);
    });
  };

  return (
    <div class={`page ${model.link}`}>
      <header>
        <h1>Sluice {status !== undefined && <small>{status.version}</small>}</h1>
        {status !== undefined && (
          <p class="about">
            <span class={`dot ${status.state}`} /> {status.state} <a href={status.url}>{status.url}</a>
            <span> up {time(status.uptime_s * 1000)}</span>
            <span> generation {status.generation}</span>
            <span> pid {status.pid}</span>
          </p>
        )}
        <div class="tools">
          <div class="chips" role="group" aria-label="Time span">
            {SPAN_NAMES.map(([span, name]) => (
              <button
                type="button"
                key={span}
                class="chip"
                aria-pressed={model.span === span}
                onClick={() => store.show(span)}
              >
                {name}
              </button>
            ))}
          </div>
          <button type="button" onClick={() => setActing(true)}>
            Actions
          </button>
          <button type="button" class="quiet" onClick={() => setTheme(theme === 'dark' ? 'light' : 'dark')}>
            {theme === 'dark' ? 'Light' : 'Dark'}
          </button>
        </div>
      </header>
      <main>
        <LinkState model={model} store={store} />
        {told !== '' && (
          <p class="card told" role="status">
            {told}{' '}
            <button type="button" class="quiet" onClick={() => setTold('')}>
              dismiss
            </button>
          </p>
        )}
        {status !== undefined && (
          <div class="data">
            <Alarms alarms={status.alarms} />
            <Tiles model={model} />
            <Glance
              deploy={model.costs?.deploy ?? null}
              effects={status.effects}
              now_ms={model.frame?.now_ms ?? 0}
            />
            <Charts model={model} theme={theme} />
            <div class="columns">
              <div class="data">
                <Workers
                  model={model}
                  profile={(worker) =>
                    store.hasToken ? setFlame({ worker, seconds: PROFILE_S }) : setActing(true)
                  }
                />
                <Renders status={status} />
              </div>
              <Events marks={model.marks} />
            </div>
            <Quarantine
              requests={model.costs?.quarantined ?? []}
              release={(which) => act('release', { which }, 'Workers accept the request again.')}
            />
            {model.costs !== null && <Classes classes={model.costs.classes} />}
            <Calls called={status.called} />
            <HeatMap points={model.points} runs={status.runs} theme={theme} />
            <Rendering status={status} />
            <Graph graph={status.graph} />
            <Pages cache={status.page_cache} />
            <Tails tails={status.tails} show={(tail) => setFlame({ tail })} />
          </div>
        )}
      </main>
      {isActing && (
        <Actions
          model={model}
          store={store}
          tell={setTold}
          profile={(seconds) => setFlame({ seconds })}
          close={() => setActing(false)}
        />
      )}
      {flame !== null && (
        <Flame
          wish={flame}
          store={store}
          close={() => {
            setFlame(null);
            if (store.isTokenStale) setActing(true);
          }}
        />
      )}
    </div>
  );
}

/** State of the connection, while there is something to say. */
function LinkState({ model, store }: { model: Model; store: Store }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (model.link === 'live') return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [model.link]);
  if (model.link === 'denied') {
    return (
      <section class="card narrow" aria-label="Token">
        <h2>This dashboard needs the token</h2>
        <Token file={model.tokenFile} store={store} done={() => undefined} />
      </section>
    );
  }
  const isQuiet = model.link === 'live' || (model.link === 'connecting' && model.heardMs === 0);
  return (
    <div role="status">
      {isQuiet ? (
        model.frame === null && <p class="card">Connecting to the gateway…</p>
      ) : (
        <p class="card gone">
          <b>{model.link === 'refused' ? model.why : 'The gateway does not answer.'}</b>{' '}
          {model.heardMs > 0 && (
            <>
              Last seen at {clock(model.heardMs)}
              <span aria-hidden="true">
                , {time(Math.max(0, now - model.heardMs))} ago; the figures below are from then
              </span>
              .{' '}
            </>
          )}
          Reconnecting…
        </p>
      )}
    </div>
  );
}

function Charts({ model, theme }: { model: Model; theme: string }) {
  const { points } = model;
  const charts = useMemo(() => {
    const of = (value: (point: Point) => number | null) => points.map(value);
    const spread = (key: 'queue_wait_ms' | 'service_time_ms'): Line[] =>
      (
        [
          ['max', 3],
          ['p99', 2],
          ['p95', 1],
          ['p50', 0],
        ] as const
      ).map(([label, at]) => ({
        label,
        colour: `--p${at}`,
        fill: at < 3,
        values: of((point) => point[key]?.[at] ?? null),
      }));
    return {
      at: points.map((point) => point.at_ms / 1000),
      wait: spread('queue_wait_ms'),
      service: spread('service_time_ms'),
      rates: [
        { label: 'answered', colour: '--p1', fill: true, values: of((point) => point.answered) },
        { label: 'refused', colour: '--warn', values: of((point) => point.refused) },
        { label: 'failed', colour: '--bad', values: of((point) => point.failed) },
      ],
      queue: [
        { label: 'waiting', colour: '--p1', fill: true, values: of((point) => point.queue_length) },
        { label: 'in service', colour: '--second', values: of((point) => point.in_service) },
      ],
      cpu: [
        { label: 'workers', colour: '--p1', fill: true, values: of((point) => point.cpu) },
        { label: 'gateway', colour: '--second', values: of((point) => point.gateway_cpu) },
      ],
      memory: [{ label: 'workers', colour: '--p1', fill: true, values: of((point) => point.rss_bytes) }],
    };
  }, [points]);
  const common = { at: charts.at, marks: model.marks, theme };
  return (
    <section class="charts" aria-label="Over time">
      <Plot
        {...common}
        title="Queue wait"
        help="Time before a worker accepted the request: 50th, 95th, 99th percentile and the longest. The axis is logarithmic."
        lines={charts.wait}
        format={time}
        log
      />
      <Plot
        {...common}
        title="Service time"
        help="Time in a worker, CPU time and waits of the app: 50th, 95th, 99th percentile and the longest. The axis is logarithmic."
        lines={charts.service}
        format={time}
        log
      />
      <Plot
        {...common}
        title="Requests"
        help="Per second: answered by workers, refused by the gateway, and answers of 500 or above."
        lines={charts.rates}
        format={(value) => `${count(value)}/s`}
      />
      <Plot
        {...common}
        title="Queue and service"
        help="Waiting requests (maximum of each interval), and requests in workers (mean)."
        lines={charts.queue}
        format={count}
      />
      <Plot
        {...common}
        title="CPU"
        help="CPU time of the workers and of the gateway, in cores."
        lines={charts.cpu}
        format={trimmed}
      />
      <Plot
        {...common}
        title="Memory"
        help="Resident memory of all workers."
        lines={charts.memory}
        format={bytes}
        binary
      />
    </section>
  );
}

/** Theme that was chosen in this browser, else what the system prefers. */
function useTheme(): ['light' | 'dark', (theme: 'light' | 'dark') => void] {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const stored = localStorage.getItem('sluice-theme');
  const [chosen, choose] = useState<'light' | 'dark' | null>(
    stored === 'light' || stored === 'dark' ? stored : null,
  );
  const [isDark, setDark] = useState(system.matches);
  useEffect(() => {
    const look = () => setDark(system.matches);
    system.addEventListener('change', look);
    return () => system.removeEventListener('change', look);
  }, []);
  const theme = chosen ?? (isDark ? 'dark' : 'light');
  document.documentElement.dataset['theme'] = theme;
  const set = (theme: 'light' | 'dark') => {
    localStorage.setItem('sluice-theme', theme);
    choose(theme);
  };
  return [theme, set];
}
