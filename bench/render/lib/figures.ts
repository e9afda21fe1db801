// Figures that processes measure of themselves and send to the benchmark.

export interface RegistryFigures {
  /** Milliseconds from the start of the process until all are registered. */
  ready_ms: number;
  /** Components whose code was loaded. */
  loaded: number;
  heap_bytes: number;
}

/** Of one page: µs. */
export interface PageAccount {
  /** What its tasks say. */
  tasks_us: number;
  /** Time that passed within its renders. Synchronous renders that the kernel did not interrupt take as much CPU time. */
  renders_us: number;
}

export interface Account {
  pages: PageAccount[];
  /** What the kernel says of the main thread for a page, on average: data, tasks and renders. */
  thread_us: number;
  /** Of one card, by its task: median. */
  card_us: number;
}

export interface Round {
  /** One page after the other. */
  alone: Account;
  /** Several at once, and beside them a component that takes its time. */
  together: Account;
}
