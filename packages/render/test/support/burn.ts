/** Work whose amount is a count, so that tests compare CPU times and no clock has to be on time. */

/** About a microsecond a round, on the machine that it is. Returns something, so that it is not optimised away. */
export function burn(rounds: number): number {
  let sum = 0;
  for (let round = 0; round < rounds * 300; round += 1) sum = (Math.imul(sum ^ round, 0x9e3779b1) + 1) | 0;
  return sum;
}

/** So many rounds that they take a millisecond or so of CPU time, once the function is compiled. */
export function roundsOfMs(ms: number): number {
  burn(20_000);
  const before = process.cpuUsage();
  burn(20_000);
  const { user, system } = process.cpuUsage(before);
  return Math.round((20_000 * ms * 1000) / (user + system));
}
