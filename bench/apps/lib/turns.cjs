// Work in turns of a loop: the same amount wherever and whenever it runs. `node turns.cjs` prints how many there are in a
// millisecond of CPU time.
'use strict';

function turn(turns) {
  let value = 1;
  for (let at = 0; at < turns; at += 1) value = (value * 1103515245 + 12345) % 2147483648;
  return value;
}

/** Median of tries of about 20 ms each, after the compiler has seen the loop. */
function turnsPerMs() {
  let turns = 100_000;
  const found = [];
  const started = process.cpuUsage();
  const msSince = (start) => {
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  };
  while (msSince(started) < 1_000) {
    const before = process.cpuUsage();
    turn(turns);
    const took = msSince(before);
    if (msSince(started) > 300) found.push(turns / took);
    if (took < 20) turns *= 2;
  }
  found.sort((a, b) => a - b);
  return found[Math.floor(found.length / 2)];
}

module.exports = { turn };
if (require.main === module) console.log(turnsPerMs());
