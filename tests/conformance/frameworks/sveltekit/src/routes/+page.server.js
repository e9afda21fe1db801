export function load() {
  return { time: new Date().toISOString() };
}
