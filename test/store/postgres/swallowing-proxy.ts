import { connect, createServer, type Socket } from "node:net";

/** Passes bytes between clients and a database server, until told to swallow what goes by what is open. */
export interface SwallowingProxy {
  readonly port: number;
  /** From now on nothing comes through what is open now, and nobody is told. @param which directions; both unless given */
  swallow(which?: { readonly questions?: boolean; readonly answers?: boolean }): void;
  close(): void;
}

export async function openSwallowingProxy(target: number): Promise<SwallowingProxy> {
  const open = new Set<{ questions: boolean; answers: boolean }>();
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    const passes = { questions: true, answers: true };
    open.add(passes);
    const ways = [
      [client, upstream, "questions"],
      [upstream, client, "answers"],
    ] as const;
    for (const [from, to, way] of ways) {
      sockets.add(from);
      from.setNoDelay(true);
      from.on("data", (bytes) => {
        if (passes[way]) to.write(bytes);
      });
      from.on("error", () => {});
      from.on("close", () => {
        sockets.delete(from);
        if (passes[way]) to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const at = server.address();
  if (at === null || typeof at === "string") throw new Error("The proxy has no port.");
  return {
    port: at.port,
    swallow({ questions = true, answers = true } = {}) {
      for (const passes of open) {
        if (questions) passes.questions = false;
        if (answers) passes.answers = false;
      }
      open.clear();
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
