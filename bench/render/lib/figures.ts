// Figures that processes measure of themselves and send to the benchmark.

export interface RegistryFigures {
  /** Milliseconds from the start of the process until all are registered. */
  ready_ms: number;
  /** Components whose code was loaded. */
  loaded: number;
  heap_bytes: number;
}

/** Account of one page: µs. */
export interface PageAccount {
  /** CPU time that the tasks report. */
  tasks_us: number;
  /** Time that passed within its renders. Synchronous renders that the kernel did not interrupt take as much CPU time. */
  renders_us: number;
}

export interface Account {
  pages: PageAccount[];
  /** CPU time of the main thread for a page by the kernel, on average: data, tasks and renders. */
  thread_us: number;
  /** Median CPU time of one card, by its task. */
  card_us: number;
}

export interface Round {
  /** One page after the other. */
  alone: Account;
  /** Several at once, and beside them a component that takes its time. */
  together: Account;
}
