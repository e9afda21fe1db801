// When latencies of several servers may stand side by side: they got the same requests, and answered them. Latencies are of what was
// answered, so a server that refuses much looks fast.

interface Answered {
  percent: number;
  server: string;
  class: string;
  sent: number;
  ok: number;
}

/** Share of the requests that a server has to answer at a load below its capacity. */
const ANSWERED_MIN = 0.999;

/** Reason for not publishing the cells side by side; empty if they may be published. */
export function unlike(cells: Answered[]): string[] {
  const groups = new Map<string, Answered[]>();
  for (const cell of cells) {
    const key = `${cell.class} at ${cell.percent} %`;
    groups.set(key, [...(groups.get(key) ?? []), cell]);
  }
  return [...groups].flatMap(([name, group]) => {
    const first = group[0];
    const other = group.find(({ sent }) => sent !== first?.sent);
    const unanswered = group.filter(({ percent, sent, ok }) => percent < 100 && ok < ANSWERED_MIN * sent);
    return [
      ...(first === undefined || other === undefined
        ? []
        : [`${name}: unequal requests: ${first.server} ${first.sent}, ${other.server} ${other.sent}`]),
      ...unanswered.map(
        ({ server, sent, ok }) => `${name}: ${server} left ${sent - ok} of ${sent} unanswered`,
      ),
    ];
  });
}
