// Loaded before the program that is measured: at SIGUSR2 V8 gives back what it does not need, as it does by itself in a
// process that has been idle for a while.
process.on('SIGUSR2', () => {
  globalThis.gc();
  globalThis.gc();
});
