import type pg from "pg";
import type { Listening } from "./client.ts";

const PAUSES_MS = [100, 250, 500, 1_000, 2_500, 5_000] as const;

interface Heard {
  readonly tell: (payload: string) => void;
  readonly again: () => void;
}
type Channels = Map<string, Heard[]>;

/** Listens on a connection of its own. If it is lost, a new one is opened. */
export function createPgListener(open: () => Promise<pg.Client>): Listening & { stop(): Promise<void> } {
  const channels: Channels = new Map();
  /** Closes the connection that listens. */
  let lose = () => {};
  let client: Promise<pg.Client> | undefined;
  let isStopped = false;

  function connect(): Promise<pg.Client> {
    const deaf = Promise.withResolvers<never>();
    deaf.promise.catch(() => {});
    lose = () => deaf.reject(new Error("It hears nothing."));
    const lost = () => {
      client = undefined;
      reconnect(0);
    };
    client = connected(open, channels, { lost, deaf: deaf.promise });
    client.catch(() => {
      client = undefined;
    });
    return client;
  }

  function reconnect(tries: number): void {
    if (isStopped) return;
    const retry = () => {
      if (isStopped || client !== undefined) return;
      connect().then(
        () => {
          for (const heard of channels.values()) for (const { again } of heard) again();
        },
        () => reconnect(tries + 1),
      );
    };
    setTimeout(retry, PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)]).unref();
  }

  return {
    async listen(channel, tell, again) {
      const on = await (client ?? connect());
      if (!channels.has(channel)) await on.query(`listen ${on.escapeIdentifier(channel)}`);
      channels.set(channel, [...(channels.get(channel) ?? []), { tell, again }]);
      again();
    },
    async listenAnew() {
      lose();
    },
    async stop() {
      isStopped = true;
      // Nobody waits for one that is still made.
      if (client !== undefined && Bun.peek.status(client) === "pending") lose();
      const open = await client?.catch(() => undefined);
      await open?.end().catch(() => {});
    },
  };
}

interface Ends {
  /** Called once when the connection is lost after it listens. */
  readonly lost: () => void;
  /** Rejects when nothing is heard on it, also while it is made. */
  readonly deaf: Promise<never>;
}

/** Connects and listens to all channels. */
async function connected(
  open: () => Promise<pg.Client>,
  channels: Channels,
  { lost, deaf }: Ends,
): Promise<pg.Client> {
  const made = await open();
  const leave = () => {
    made.removeAllListeners();
    // The result of closing it does not matter.
    made.on("error", () => {});
    void made.end().catch(() => {});
  };
  made.on("error", () => {});
  made.on("notification", ({ channel, payload = "" }) => {
    for (const { tell } of channels.get(channel) ?? []) tell(payload);
  });
  const listening = async () => {
    await made.connect();
    for (const channel of channels.keys()) await made.query(`listen ${made.escapeIdentifier(channel)}`);
  };
  try {
    await Promise.race([listening(), deaf]);
  } catch (error) {
    leave();
    throw error;
  }
  const end = () => {
    leave();
    lost();
  };
  made.once("error", end);
  made.once("end", end);
  deaf.catch(end);
  return made;
}
