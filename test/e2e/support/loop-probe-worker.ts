import { mainThreadMs } from "./loop-probe.ts";

declare const self: Worker;

const PAUSE_MS = 1;
const REQUEST = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

let isOver = false;

self.onmessage = (event: MessageEvent<{ port: number; pid: number } | "stop">): void => {
  if (event.data === "stop") isOver = true;
  else void probe(event.data);
};

async function probe({ port, pid }: { port: number; pid: number }): Promise<void> {
  let answered: () => void = () => undefined;
  const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data: () => answered() } });
  let heldMs = 0;
  let answers = 0;
  let before = mainThreadMs(pid);
  self.postMessage({ heldMs, answers });
  while (!isOver) {
    const answer = new Promise<void>((resolve) => {
      answered = resolve;
    });
    socket.write(REQUEST);
    await answer;
    const now = mainThreadMs(pid);
    heldMs = Math.max(heldMs, now - before);
    before = now;
    answers += 1;
    await Bun.sleep(PAUSE_MS);
  }
  socket.end();
  self.postMessage({ heldMs, answers });
}
