// How many sentences of each page may still break a rule: a list that only shrinks. Pages that are not in it may have none.
import type { Finding } from './lint.ts';
import type { RuleId } from './rules.ts';

export type Counts = Readonly<Partial<Record<RuleId, number>>>;
export type Baseline = Readonly<Record<string, Counts>>;

export function count(findings: readonly Finding[]): Counts {
  const counts: Partial<Record<RuleId, number>> = {};
  for (const { rule } of findings) counts[rule] = (counts[rule] ?? 0) + 1;
  return counts;
}

/** The findings of a page by rules that it breaks more often than it may. */
export function grown(findings: readonly Finding[], allowed: Counts = {}): Finding[] {
  const counts = count(findings);
  return findings.filter(({ rule }) => (counts[rule] ?? 0) > (allowed[rule] ?? 0));
}

/** The baseline with every count that has fallen, and none that has grown. */
export function shrunk(baseline: Baseline, found: Baseline): Baseline {
  const pages = Object.entries(baseline).flatMap(([page, allowed]): [string, Counts][] => {
    const rules = (Object.entries(allowed) as [RuleId, number][])
      .map(([rule, was]): [RuleId, number] => [rule, Math.min(was, found[page]?.[rule] ?? 0)])
      .filter(([, now]) => now > 0);
    return rules.length > 0 ? [[page, Object.fromEntries(rules)]] : [];
  });
  return Object.fromEntries(pages);
}
