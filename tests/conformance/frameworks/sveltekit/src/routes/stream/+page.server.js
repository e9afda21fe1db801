export function load() {
  return { slow: new Promise((resolve) => setTimeout(() => resolve('second part'), 300)) };
}
