import { connect, type Socket } from "node:net";

/** How a request ended: with a status; with a connection that was refused, or reset before the server took it; or lost on an open one. */
export type Outcome = { readonly status: number; readonly isLast: boolean } | "refused" | "lost";

/**
 * A client that keeps its connection open as long as the server does, and sends nothing a second time by itself, as the runtime's
 * own client would.
 */
export function openPersistentClient(port: number) {
  let socket: Socket | undefined;
  return {
    /** Sends a request as it is, and reads its answer, which must tell its length. */
    send(request: string): Promise<Outcome> {
      return new Promise((resolve) => {
        const isNew = socket === undefined;
        socket ??= connect({ host: "127.0.0.1", port });
        const current = socket;
        let text = "";
        const end = (outcome: Outcome) => {
          current.removeAllListeners();
          current.on("error", () => undefined);
          const forget = () => {
            if (socket === current) socket = undefined;
          };
          if (typeof outcome === "object" && !outcome.isLast) current.on("close", forget);
          else {
            current.destroy();
            forget();
          }
          resolve(outcome);
        };
        current.removeAllListeners();
        current.on("error", () => end(isNew ? "refused" : "lost"));
        current.on("close", () => end("lost"));
        current.on("data", (chunk) => {
          text += chunk.toString("latin1");
          const [head = "", body] = text.split("\r\n\r\n");
          const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? Number.NaN);
          if (body === undefined || !(body.length >= length)) return;
          end({ status: Number(head.slice(9, 12)), isLast: /^connection: close/im.test(head) });
        });
        if (isNew) current.once("connect", () => current.write(request));
        else current.write(request);
      });
    },
    close: () => void socket?.destroy(),
  };
}
