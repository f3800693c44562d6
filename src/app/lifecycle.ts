/** Functions that close what was opened, in the order of opening. Stopping runs them backwards. */
export type Releases = (() => Promise<void> | void)[];

/** The result of opening. */
export interface Opened<Started> {
  readonly started: Started;
  /** Lets running work end. */
  drain(options: StopOptions): Promise<void>;
}

export interface StopOptions {
  /** Skips the waiting. */
  readonly force?: boolean;
  /** How long at least to keep listening, for clients that have not heard of the stop. */
  readonly listenOnMs?: number;
}

export interface Lifecycle<Started> {
  start(): Promise<Started>;
  /** Drains, then closes everything in the reverse order of opening. May be called again. */
  stop(options?: StopOptions): Promise<void>;
}

/** Runs `open` once. When it fails, or later on `stop`, closes what it added to `releases`. */
export function createLifecycle<Started>(
  open: (releases: Releases) => Promise<Opened<Started>>,
): Lifecycle<Started> {
  const releases: Releases = [];
  let starting: Promise<unknown> = Promise.resolve();
  let stopping: Promise<void> | undefined;
  let drain: Opened<Started>["drain"] | undefined;

  const closeAll = async () => {
    for (const close of releases.splice(0).reverse()) await close();
  };

  async function start(): Promise<Started> {
    try {
      const opened = await open(releases);
      drain = opened.drain;
      return opened.started;
    } catch (error) {
      await closeAll();
      throw error;
    }
  }

  async function stop(options: StopOptions): Promise<void> {
    // Waits, because a half-open service can be neither drained nor closed in order.
    await starting;
    await drain?.(options);
    await closeAll();
  }

  return {
    start() {
      const opening = start();
      starting = opening.catch(() => undefined);
      return opening;
    },
    stop(options = {}) {
      stopping ??= stop(options);
      return stopping;
    },
  };
}
