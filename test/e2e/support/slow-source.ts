import { plainImage } from "./pictures.ts";

/** A picture on a server that keeps whoever asks for it waiting, so that a task's step stays under way. */
export interface SlowSource {
  readonly url: string;
  /** Resolves when somebody asks for the picture. */
  readonly asked: Promise<void>;
  /** Lets it go, now and from now on. */
  release(): void;
  stop(): Promise<void>;
}

export async function openSlowSource(): Promise<SlowSource> {
  const picture = await plainImage(24, 24);
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    async fetch() {
      asked.resolve();
      await released.promise;
      return new Response(new Uint8Array(picture), { headers: { "Content-Type": "image/png" } });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/slow.png`,
    asked: asked.promise,
    release: released.resolve,
    stop: () => server.stop(true),
  };
}

/** Lets a server under test fetch from this machine. */
export const ALLOW_LOOPBACK = ["--egress-allow", "127.0.0.1/32"] as const;
