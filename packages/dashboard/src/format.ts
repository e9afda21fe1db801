// Numbers for people.

/** Three digits at most: `0.04`, `3.2`, `47`, `12.3k`. */
export function count(value: number): string {
  if (value >= 1e9) return `${trimmed(value / 1e9)}G`;
  if (value >= 1e6) return `${trimmed(value / 1e6)}M`;
  if (value >= 1e4) return `${trimmed(value / 1e3)}k`;
  return trimmed(value);
}

export function trimmed(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value === 0 ? '0' : String(Number(value.toFixed(digits)));
}

/** Milliseconds as µs, ms, s, min or h; a dash for what is not known. */
export function time(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–';
  if (ms === 0) return '0 ms';
  if (ms < 1) return `${trimmed(ms * 1000)} µs`;
  if (ms < 1000) return `${trimmed(ms)} ms`;
  if (ms < 60_000) return `${trimmed(ms / 1000)} s`;
  if (ms < 3_600_000) return `${trimmed(ms / 60_000)} min`;
  return ms < 172_800_000 ? `${trimmed(ms / 3_600_000)} h` : `${trimmed(ms / 86_400_000)} d`;
}

export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  if (value >= 1 << 30) return `${trimmed(value / (1 << 30))} GiB`;
  return value >= 1 << 20 ? `${trimmed(value / (1 << 20))} MiB` : `${trimmed(value / 1024)} KiB`;
}

export const percent = (part: number): string => `${trimmed(part * 100)} %`;

export const clock = (unixMs: number, withSeconds = true): string =>
  new Date(unixMs).toLocaleTimeString([], {
    hour12: false,
    hour: '2-digit',
    minute: '2-digit',
    ...(withSeconds ? { second: '2-digit' } : {}),
  });
