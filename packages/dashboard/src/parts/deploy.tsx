// Changes since the latest version of the app came, with how sure they are; and what visitors got of its pages.
import { count, percent, time } from '../format.js';
import type {
  DeploySnapshot,
  EffectsSnapshot,
  ExperimentSnapshot,
  FindingSnapshot,
  VitalsSnapshot,
} from '../snapshot.js';
import { Help } from './help.js';
import { Table } from './table.js';

/** Variants that are named here; the table of the dial's effect has all. */
const VARIANTS_MAX = 6;
/** Arms whose verdicts are shown; `sluice status --json` has all. */
const ARMS_MAX = 6;

interface Props {
  deploy: DeploySnapshot | null;
  effects: EffectsSnapshot | null;
  now_ms: number;
}

/** Nothing where only one version has served and no page is rendered by `@sluice/render`. */
export function Glance({ deploy, effects, now_ms }: Props) {
  if (deploy === null && effects === null) return null;
  return (
    <div class={deploy !== null && effects !== null ? 'columns glance' : 'columns one'}>
      {deploy !== null && <Deploy deploy={deploy} now_ms={now_ms} />}
      {effects !== null && <Seen effects={effects} />}
    </div>
  );
}

function Deploy({ deploy, now_ms }: { deploy: DeploySnapshot; now_ms: number }) {
  const { generation, before, at_ms, requests, findings, classes, compared } = deploy;
  const isSure = findings.some(({ verdict }) => verdict === 'worse' || verdict === 'better');
  return (
    <section class="card" aria-labelledby="deploy">
      <h2 id="deploy">
        Since the last deploy{' '}
        <small>
          generation {generation}, {time(Math.max(0, now_ms - at_ms))} ago
        </small>{' '}
        <Help
          of="since the last deploy"
          text="The latest version of the app compared with the previous one, class by class, so that a different mix of requests does not count as a change. Intervals have a confidence of 99 %. Changes of load or other processes at the same time are included; sluice canary compares versions side by side."
        />
      </h2>
      <ul class="findings">
        {findings.map((finding) => (
          <li key={finding.measure} class={finding.verdict}>
            <small>{finding.measure}</small>
            <b>{changeOf(finding)}</b>
            <small>{sureOf(finding)}</small>
          </li>
        ))}
      </ul>
      {classes.length === 0 ? (
        <p class="empty">
          {isSure ? 'No single class' : 'Nothing'} has changed with certainty: {count(requests[0] ?? 0)}{' '}
          requests of generation {before}, {count(requests[1] ?? 0)} since, {count(compared)} classes
          compared.
        </p>
      ) : (
        <Table label="Table of classes that changed">
          <thead>
            <tr>
              <th scope="col">Class</th>
              <th scope="col">Measure</th>
              <th scope="col" class="number">
                Before
              </th>
              <th scope="col" class="number">
                Since
              </th>
              <th scope="col" class="number">
                Change <Help of="change of a class" text="Change of the mean, with its 99 % interval." />
              </th>
            </tr>
          </thead>
          <tbody>
            {classes.map(({ class: name, before_ms, after_ms, finding }) => (
              <tr key={`${name} ${finding.measure}`}>
                <th scope="row" class="name">
                  <code>{name}</code>
                </th>
                <td>{finding.measure}</td>
                <td class="number">{time(before_ms)}</td>
                <td class="number">{time(after_ms)}</td>
                <td class={`number ${finding.verdict === 'worse' ? 'bad' : 'good'}`}>
                  {changeOf(finding)} <small>{intervalOf(finding)}</small>
                </td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </section>
  );
}

const signed = (share: number): string => `${share > 0 ? '+' : ''}${(share * 100).toFixed(1)}`;

function changeOf({ change, is_share }: FindingSnapshot): string {
  return change === null ? 'too few for a result' : `${signed(change)} ${is_share ? 'points' : '%'}`;
}

function intervalOf({ low, high }: FindingSnapshot): string {
  return low === null || high === null ? '' : `(${signed(low)} to ${signed(high)})`;
}

function sureOf(finding: FindingSnapshot): string {
  const { verdict, sure, change } = finding;
  if (change === null) return '';
  if (verdict !== 'worse' && verdict !== 'better') return `${intervalOf(finding)}, not sure`;
  return `${intervalOf(finding)}, ${Math.min(Math.floor(sure * 1e4) / 100, 99.99)} % sure`;
}

/** Holes in pages, time to interactive by device, and variants of experiments, where they are recorded. */
function Seen({ effects }: { effects: EffectsSnapshot }) {
  const { renders_total, holes_total, worst_hole: worst, settings, variants } = effects;
  const devices = devicesOf(settings.flatMap((setting) => setting.devices));
  return (
    <section class="card" aria-labelledby="visitors">
      <h2 id="visitors">
        What visitors got{' '}
        <Help
          of="what visitors got"
          text="Holes are components missing from the HTML of a page unintentionally: late, failed or shed. Times are 75th percentiles of the last one to two hours, measured by browsers: time to interactive if measured, otherwise largest contentful paint."
        />
      </h2>
      <dl class="facts">
        <div>
          <dt>Holes in pages</dt>
          <dd class={worst === null ? '' : 'bad'}>
            {percent(holes_total / Math.max(renders_total, 1))}{' '}
            <small>of {count(renders_total)} renders</small>
          </dd>
        </div>
        {worst !== null && (
          <div>
            <dt>
              Now: <code>{worst.component}</code>
            </dt>
            <dd class="bad">
              {percent(worst.share)} <small>of its renders {worst.outcome}</small>
            </dd>
          </div>
        )}
        {devices.map((vitals) => (
          <Visitors key={vitals.name} vitals={vitals} />
        ))}
        {variants.slice(0, VARIANTS_MAX).map((vitals) => (
          <Visitors key={`variant ${vitals.name}`} vitals={vitals} isVariant />
        ))}
      </dl>
      <Arms experiments={effects.experiments} />
    </section>
  );
}

/** Arms of experiments beside their baselines, with what surely differs. */
function Arms({ experiments }: { experiments: readonly ExperimentSnapshot[] }) {
  const arms = experiments.flatMap(({ name, baseline, arms: all }) =>
    all.filter((arm) => arm.name !== baseline).map((arm) => ({ name, baseline, arm })),
  );
  if (arms.length === 0) return null;
  return (
    <ul class="plain">
      {arms.slice(0, ARMS_MAX).map(({ name, baseline, arm }) => (
        <li key={`${name}:${arm.name}`}>
          <code>
            {name}:{arm.name}
          </code>{' '}
          <small>against {baseline}</small>{' '}
          {arm.findings.length === 0 && <small>too few views for a result</small>}
          {arm.findings.map((finding, at) => (
            <span key={finding.measure} class={finding.verdict === 'worse' ? 'warn' : ''}>
              {at > 0 && ', '}
              {finding.measure} <b>{changeOf(finding)}</b> <small>{sureOf(finding)}</small>
            </span>
          ))}
        </li>
      ))}
      {experiments
        .filter((one) => one.left_out > 0)
        .map(({ name, left_out }) => (
          <li key={name}>
            <code>{name}</code>{' '}
            <small>has {left_out} further arms, which are not compared: at most 8 are</small>
          </li>
        ))}
    </ul>
  );
}

function Visitors({ vitals, isVariant = false }: { vitals: VitalsSnapshot; isVariant?: boolean }) {
  const { name, tti_ms, lcp_ms, reports_total } = vitals;
  const isInteractive = tti_ms !== undefined && tti_ms !== null;
  return (
    <div>
      <dt>
        {isVariant ? <code>{name}</code> : name}, {isInteractive ? 'TTI' : 'LCP'}
      </dt>
      <dd>
        {time(isInteractive ? tti_ms : lcp_ms)} <small>{count(reports_total)} views</small>
      </dd>
    </div>
  );
}

/** Figures of each device with the setting that most visitors have: percentiles of several cannot be added up. */
function devicesOf(all: readonly VitalsSnapshot[]): VitalsSnapshot[] {
  const most = new Map<string, VitalsSnapshot>();
  for (const vitals of all)
    if (vitals.reports_total > (most.get(vitals.name)?.reports_total ?? 0)) most.set(vitals.name, vitals);
  return [...most.values()];
}
