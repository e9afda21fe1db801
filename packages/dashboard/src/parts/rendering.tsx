// Rendering: for whom the server renders, what that does to visitors and costs, and what each component costs.
import { useState } from 'preact/hooks';
import { bytes, count, percent, time, trimmed } from '../format.js';
import type {
  ComponentSnapshot,
  DialSnapshot,
  EffectsSnapshot,
  SettingSnapshot,
  Snapshot,
  VitalsSnapshot,
} from '../snapshot.js';
import { Help } from './help.js';
import { Table } from './table.js';

/** Components that are shown before more are asked for. */
const COMPONENTS_FIRST = 15;
/** Bounds of Core Web Vitals, and of Lighthouse for the others: up to the first a page is good, beyond the second poor. */
const BOUNDS = {
  ttfb_ms: [800, 1800],
  lcp_ms: [2500, 4000],
  inp_ms: [200, 500],
  tti_ms: [3800, 7300],
  key_ms: [200, 500],
  long_ms: [200, 600],
  cls: [0.1, 0.25],
} as const;

/** Nothing where neither `@sluice/render` nor `render.server` is in use. */
export function Rendering({ status: { dial, effects } }: { status: Snapshot }) {
  const isSet =
    dial.turned || Object.entries(dial.server).some(([of, share]) => of !== '*' || share !== '100%');
  if (effects === null && !isSet) return null;
  return (
    <>
      <Effect dial={dial} effects={effects} />
      {effects !== null && effects.components.length > 0 && (
        <Components components={effects.components} total={effects.components_count} />
      )}
    </>
  );
}

const VIEWS = {
  settings: { name: 'Settings', help: 'Setting of the dial that the page reports, and the device.' },
  variants: { name: 'Variants', help: 'Variant of an experiment that the visitor gets.' },
  pages: {
    name: 'Pages',
    help: 'Class of the page, as in the table of classes; the 20 classes with most visitors.',
  },
} as const;
type View = keyof typeof VIEWS;

/** Measures that have a column where a browser has told them. */
type Later = 'tti_ms' | 'key_ms' | 'long_ms' | 'memory_bytes';

interface Row {
  key: string;
  name: string;
  device: string;
  setting: SettingSnapshot | null;
  vitals: VitalsSnapshot | null;
}

function rowsOf(view: View, effects: EffectsSnapshot | null): Row[] {
  if (effects === null) return [];
  if (view !== 'settings')
    return effects[view].map((vitals) => ({
      key: vitals.name,
      name: vitals.name,
      device: '',
      setting: null,
      vitals,
    }));
  return effects.settings.flatMap((setting) => {
    const { name, devices } = setting;
    const row = (device: string, vitals: VitalsSnapshot | null) => ({
      key: `${name} ${device}`,
      name,
      device,
      setting,
      vitals,
    });
    return devices.length === 0 ? [row('', null)] : devices.map((vitals) => row(vitals.name, vitals));
  });
}

function Effect({ dial, effects }: { dial: DialSnapshot; effects: EffectsSnapshot | null }) {
  const [view, setView] = useState<View>('settings');
  const rows = rowsOf(view, effects);
  const measured = (measure: Later): boolean => rows.some(({ vitals }) => vitals?.[measure] !== undefined);
  return (
    <section class="card" aria-labelledby="dial">
      <div class="head">
        <h2 id="dial">
          Effect of the dial{' '}
          <Help
            of="effect of the dial"
            text="Measurements of visitors for each setting of render.server, and the cost of a page on the server. Figures of browsers are 75th percentiles of the last one to two hours."
          />
        </h2>
        <div class="chips views" role="group" aria-label="Rows of the effect of the dial">
          {(Object.keys(VIEWS) as View[]).map((one) => (
            <button
              type="button"
              key={one}
              class="chip"
              aria-pressed={view === one}
              onClick={() => setView(one)}
            >
              {VIEWS[one].name}
            </button>
          ))}
        </div>
      </div>
      <p class="dial">
        The server renders for{' '}
        {Object.entries(dial.server).map(([of, share], at) => (
          <span key={of}>
            {at > 0 && ', '}
            <b>{share}</b> {of === '*' ? 'of visitors' : 'for '}
            {of !== '*' && <code>{of}</code>}
          </span>
        ))}
        {dial.turned && <small> until the next reload</small>}
      </p>
      {rows.length === 0 ? (
        <p class="empty">Nothing has been reported yet.</p>
      ) : (
        <Table label="Table of the effect of the dial">
          <thead>
            <tr>
              <th scope="col">
                {VIEWS[view].name.slice(0, -1)} <Help of={VIEWS[view].name} text={VIEWS[view].help} />
              </th>
              {view === 'settings' && <th scope="col">Device</th>}
              <Column name="Visitors" help="Pages whose browser has reported, since the start." />
              <Column name="TTFB" help="Time to the first byte of the page." />
              <Column name="LCP" help="Largest contentful paint: time until the main content is visible." />
              <Column name="INP" help="Interaction to next paint: duration of the slowest click or key." />
              {measured('tti_ms') && (
                <Column name="TTI" help="Time to interactive: time until the page's components respond." />
              )}
              {measured('key_ms') && <Column name="Key" help="Slowest response to a key." />}
              {measured('long_ms') && (
                <Column name="Long" help="Sum of the frame time above 50 ms in a page view." />
              )}
              <Column name="CLS" help="Cumulative layout shift: movement of content while the page loads." />
              <Column
                name="Faults"
                help="Components per 1000 pages, since the start, whose HTML differed from the browser's render, or that failed to hydrate."
              />
              <Column name="HTML" help="Bytes of the page." />
              <Column name="JS" help="Bytes of its JavaScript." />
              {measured('memory_bytes') && (
                <Column name="Memory" help="JavaScript memory when the visitor leaves the page." />
              )}
              {view === 'settings' && (
                <Column
                  name="Server CPU"
                  help="Mean CPU time of the components of a page with this setting, for all devices, since the start."
                />
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <EffectRow key={row.key} row={row} measured={measured} />
            ))}
          </tbody>
        </Table>
      )}
    </section>
  );
}

function Column({ name, help }: { name: string; help: string }) {
  return (
    <th scope="col" class="number">
      {name} <Help of={name} text={help} />
    </th>
  );
}

function EffectRow({
  row: { name, device, setting, vitals },
  measured,
}: {
  row: Row;
  measured: (measure: Later) => boolean;
}) {
  return (
    <tr>
      <th scope="row" class="name">
        <code>{name}</code>
      </th>
      {setting !== null && <td>{device}</td>}
      <td class="number">{count(vitals?.reports_total ?? 0)}</td>
      <Vital vitals={vitals} measure="ttfb_ms" />
      <Vital vitals={vitals} measure="lcp_ms" />
      <Vital vitals={vitals} measure="inp_ms" />
      {measured('tti_ms') && <Vital vitals={vitals} measure="tti_ms" />}
      {measured('key_ms') && <Vital vitals={vitals} measure="key_ms" />}
      {measured('long_ms') && <Vital vitals={vitals} measure="long_ms" />}
      <Vital vitals={vitals} measure="cls" />
      <Faults vitals={vitals} />
      <td class="number">{bytes(vitals?.html_bytes)}</td>
      <td class="number">{bytes(vitals?.js_bytes)}</td>
      {measured('memory_bytes') && <td class="number">{bytes(vitals?.memory_bytes)}</td>}
      {setting !== null && (
        <td class="number">
          {time(setting.cpu_ms_per_page)} <small>of {count(setting.pages_total)}</small>
        </td>
      )}
    </tr>
  );
}

function Vital({ vitals, measure }: { vitals: VitalsSnapshot | null; measure: keyof typeof BOUNDS }) {
  const value = vitals?.[measure] ?? null;
  if (value === null) return <td class="number">–</td>;
  const [good, poor] = BOUNDS[measure];
  const judged = value <= good ? '' : value <= poor ? 'warn' : 'bad';
  return (
    <td class={`number ${judged}`}>
      {measure === 'cls' ? trimmed(value) : time(value)}
      {judged !== '' && <small class="unseen"> {judged === 'bad' ? 'poor' : 'needs improvement'}</small>}
    </td>
  );
}

function Faults({ vitals }: { vitals: VitalsSnapshot | null }) {
  if (vitals === null || vitals.reports_total === 0) return <td class="number">–</td>;
  const { mismatches_total: mismatches, failed_total: failed, reports_total: pages } = vitals;
  const many = ((mismatches + failed) / pages) * 1000;
  return (
    <td class={`number ${failed > 0 ? 'bad' : mismatches > 0 ? 'warn' : ''}`}>
      {trimmed(many)}
      {many > 0 && (
        <small class="unseen">
          {' '}
          ({count(mismatches)} mismatches, {count(failed)} failed)
        </small>
      )}
    </td>
  );
}

function Components({ components, total }: { components: readonly ComponentSnapshot[]; total: number }) {
  const [all, setAll] = useState(false);
  const shown = all ? components : components.slice(0, COMPONENTS_FIRST);
  const cpu_ms = components.reduce((sum, component) => sum + component.cpu_ms_total, 0);
  return (
    <section class="card" aria-labelledby="components">
      <h2 id="components">
        Components <small>{total}</small>{' '}
        <Help
          of="components"
          text="Components rendered by @sluice/render since the start, those with most CPU time first. Metrics contain all components."
        />
      </h2>
      <Table label="Table of components">
        <thead>
          <tr>
            <th scope="col">Component</th>
            <Column name="Count" help="Number of requested renders." />
            <Column name="CPU share" help="Share of the CPU time of the components in this table." />
            <Column name="CPU each" help="Mean CPU time of a render." />
            <th scope="col">
              How they ended{' '}
              <Help
                of="how they ended"
                text="rendered, cached and over budget are in the HTML; client means that the dial assigned the render to the browser. For all others, the page has a placeholder."
              />
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((component) => (
            <ComponentRow key={component.name} component={component} cpu_ms={cpu_ms} />
          ))}
        </tbody>
      </Table>
      {components.length > COMPONENTS_FIRST && (
        <button type="button" class="quiet" onClick={() => setAll(!all)}>
          {all ? `show the first ${COMPONENTS_FIRST}` : `show all ${components.length}`}
        </button>
      )}
    </section>
  );
}

/** Ends that are no fault, so that the others can be seen. */
const WELL = new Set(['rendered', 'cached', 'static', 'client']);

function ComponentRow({ component, cpu_ms }: { component: ComponentSnapshot; cpu_ms: number }) {
  const { name, outcomes, cpu_ms_total } = component;
  const asked = Object.values(outcomes).reduce((sum, many) => sum + many, 0);
  const share = cpu_ms === 0 ? 0 : cpu_ms_total / cpu_ms;
  const ended = Object.entries(outcomes).sort(([, one], [, other]) => other - one);
  return (
    <tr>
      <th scope="row" class="name">
        <code>{name}</code>
      </th>
      <td class="number">{count(asked)}</td>
      <td class="number share">
        <i style={{ width: `${share * 100}%` }} />
        {percent(share)}
      </td>
      <td class="number">{time(cpu_ms_total / Math.max(asked, 1))}</td>
      <td>
        {ended.map(([outcome, many], at) => (
          <span key={outcome} class={WELL.has(outcome) ? '' : 'warn'}>
            {at > 0 && ', '}
            {outcome.replaceAll('-', ' ')} {percent(many / asked)}
          </span>
        ))}
      </td>
    </tr>
  );
}
