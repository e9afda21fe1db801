/**
 * Tells in the footer what Sluice did for this page: how long it was queued and rendered, by `Server-Timing`, and what pages like it cost.
 * Without Sluice, or where the shop cannot be asked, the footer stays as it is.
 */

interface Measured {
  worker: string | null;
  cpu_ms: number | null;
}

export async function tellServing(): Promise<void> {
  const place = document.querySelector<HTMLElement>('[data-served]');
  const [page] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  if (place === null || page === undefined) return;
  const took = (name: string): number | undefined =>
    page.serverTiming.find((timing) => timing.name === name)?.duration;
  const [queued_ms, worker_ms] = [took('queue'), took('worker')];
  const parts =
    queued_ms === undefined || worker_ms === undefined
      ? ['This page was kept by the gateway']
      : [
          `This page was queued for ${queued_ms.toFixed(1)} ms and began after ${worker_ms.toFixed(1)} ms in a worker`,
        ];
  try {
    const answer = await fetch(`/api/meter?path=${encodeURIComponent(location.pathname)}`);
    const { worker, cpu_ms } = (await answer.json()) as Measured;
    if (worker === null) return;
    if (cpu_ms !== null) parts.push(`pages like it take ${cpu_ms.toFixed(1)} ms of CPU in worker ${worker}`);
  } catch {
    return;
  }
  place.textContent = `Sluice: ${parts.join('; ')}.`;
  place.hidden = false;
}
