// Loaded into each worker of a rehearsal that tries an endless loop. It does nothing until the rehearsal sends the signal.
process.on('SIGUSR2', () => {
  for (;;);
});
